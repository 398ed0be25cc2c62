/// \file
/// A plausible text with wrong claims in it, which are to be found: docs/quiz/post.toml.
#pragma once

#include <string>
#include <vector>

namespace shardlings::cli::quiz {

struct Claim {
  std::string text;
  std::string why;  ///< it is wrong; empty: it is right
};

struct Post {
  std::string title;
  std::vector<Claim> claims;  ///< numbered from 1 on for readers
  int wrong() const;
};

/// Throws std::runtime_error naming file and key at fault.
Post load_post(const std::string& folder);

}  // namespace shardlings::cli::quiz

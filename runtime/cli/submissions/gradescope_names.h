/// \file
/// Whose submission is which, where Gradescope says so: submission_metadata.yml, which lies beside the submissions that
/// it exports.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace shardlings::cli::submissions {

struct Submitters {
  std::string names;           ///< "Pair One, Pair Two"
  std::int64_t submitted = 0;  ///< seconds since 1970; 0: it is not said
};

/// By the number of the submission, "1234" of submission_1234. Reads the form that Gradescope writes and no other YAML:
/// what is not of that form is left out.
std::map<std::string, Submitters> submitters_in(const std::string& yaml);

}  // namespace shardlings::cli::submissions

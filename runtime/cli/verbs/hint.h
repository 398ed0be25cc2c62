/// \file
/// `hint` as a function: `watch` calls it when `h` is pressed.
#pragma once

#include <string>

#include "cli/context.h"

namespace shardlings::cli::verbs {

struct HintOptions {
  std::string puzzle;
  bool all = false;  ///< those given so far; after a pass all of them
  bool json = false;
};

/// `hint`: the next step of the ladder.
int hint(const Context& context, const HintOptions& options);

}  // namespace shardlings::cli::verbs

/// \file
/// `explain` as a function: `watch` calls it when `e` is pressed, and its page shows the lesson.
#pragma once

#include <string>

#include "cli/context.h"

namespace shardlings::cli::verbs {

struct ExplainOptions {
  std::string puzzle;  ///< or "map"
  bool after = false;  ///< the second part alone
  bool all = false;    ///< both, whether the puzzle is solved or not
};

/// `explain`: the lesson; what gives the answer away comes after a pass.
int explain(const Context& context, const ExplainOptions& options);

}  // namespace shardlings::cli::verbs

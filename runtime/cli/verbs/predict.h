/// \file
/// `predict` as a function: the page of `watch` asks the same questions.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace shardlings::cli::verbs {

struct PredictOptions {
  std::string puzzle;
  std::vector<std::string> answers;  ///< "peak=12.5KiB"
  bool reveal = false;
  bool json = false;
  bool after = false;  ///< those that are asked after the pass
};

/// `predict`: numbers of a case before any code is written, or of the lesson's questions after the pass.
int predict(const Context& context, const PredictOptions& asked);

}  // namespace shardlings::cli::verbs

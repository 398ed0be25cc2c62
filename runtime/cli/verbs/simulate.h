/// \file
/// `simulate` as a function: `sweep` is a short way to say it.
#pragma once

#include <string>

#include "cli/context.h"
#include "cli/verbs/simulated_pictures.h"
#include "simulation/layout.h"

namespace shardlings::cli::verbs {

struct SimulateOptions {
  std::string puzzle;
  std::string file;       ///< empty: the learner's own
  bool solution = false;  ///< simulate that
  std::string mutant;     ///< instead of a file: the name of a wrong solution (author/variants.h)
  bool json = false;
  std::string sweep;  ///< empty: one case
  std::string page;   ///< of a sweep: the file of its page; empty: none
  PictureOptions pictures{};
  simulation::Wish wish;
};

/// Help of --page.
inline constexpr const char* kPageMeaning = "write a sweep as a page for a browser, - for standard output";

/// `simulate`: a case of any size, or many, without numbers.
int simulate(const Context& context, const SimulateOptions& options);

}  // namespace shardlings::cli::verbs

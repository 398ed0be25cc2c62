/// \file
/// The zip that Gradescope makes an assignment's autograder of (gradescope/autograder_samples, docs/specs.md).
#pragma once

#include <string>
#include <vector>

#include "case/manifest.h"
#include "cli/system/project.h"

namespace shardlings::cli::kit {

struct Autograder {
  std::vector<cases::Manifest> puzzles;
  std::string secret;                 ///< text of the seed file; empty: hidden cases have the seeds of puzzle.toml
  std::vector<std::string> feedback;  ///< as --feedback
  bool trust = false;                 ///< also behind fewer walls than those of tier 1
};

/// Writes setup.sh, run_autograder, and behind them the puzzles with their hidden cases and prebuilt parts for this
/// machine's kind. It is the staff's file. Throws UsageError where something has not been built.
void write_autograder(const system::Project& project, const Autograder& autograder, const std::string& zip);

}  // namespace shardlings::cli::kit

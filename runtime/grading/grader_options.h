/// \file
/// The command line of graders, on both its sides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grading/verdict.h"

namespace shardlings::grading {

/// Exit statuses beside GoogleTest's 0 (all passed) and 1.
inline constexpr int kNoSubmission = 3;  ///< told that there is none
inline constexpr int kBroken = 4;        ///< the grader itself, or the puzzle's files

struct GraderOptions {
  std::string submission;  ///< the program to run
  std::string manifest;    ///< the puzzle's folder
  std::string clusters;    ///< folder of clusters
  std::string verdict;     ///< file to write; empty: none
  std::string traces;      ///< file to write; empty: none
  std::string case_name;
  std::optional<std::uint64_t> seed;
  bool wait_for_submission = false;  ///< until a line "ready" (or anything else: give up) comes in
};

/// Throws std::runtime_error.
GraderOptions parse_grader_options(int argc, char** argv);
std::vector<std::string> to_arguments(const GraderOptions& options);

/// Writes verdict and traces, the verdict last and at once: who sees it sees all of it.
void write_verdict(const Verdict& verdict, const GraderOptions& options);

}  // namespace shardlings::grading

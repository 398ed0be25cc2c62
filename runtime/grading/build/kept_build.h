/// \file
/// Programs of a source that are built for something else than grading, and kept for the next time.
#pragma once

#include <functional>
#include <string>

#include "grading/build/build_submission.h"

namespace shardlings::grading::build {

/// Where the program goes, and what it is made of.
struct KeptBuild {
  std::string build_folder;   ///< CMake's
  std::string purpose;        ///< the name of the folder in there: "debugged"
  std::string puzzle;         ///< id
  std::string puzzle_folder;  ///< with harness.cpp
};

/// The program of this source, which is built unless it is there; `building` is told before that. The newest few of
/// each puzzle are kept. Throws as build_submission.
BuildOutcome kept_build(const KeptBuild& kept, const SourceCopy& source, const BuildOptions& how,
                        const std::function<void()>& building);

}  // namespace shardlings::grading::build

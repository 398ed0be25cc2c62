/// \file
/// Makes a program of a learner's source file: the recorded compiler and linker commands, and what is refused.
#pragma once

#include <string>

#include "grading/build/toolchain.h"

namespace shardlings::grading::build {

struct BuildOutcome {
  bool built = false;
  std::string log;      ///< warnings and errors of the compiler, or why the source was refused
  std::string program;  ///< path
};

/// Compiles and links `source` (an absolute path) for the puzzle; object and program go to `output_folder`.
/// Throws std::runtime_error for what is no fault of the source (no compiler, no such puzzle).
BuildOutcome build_submission(const Toolchain& toolchain, const std::string& puzzle_id, const std::string& source,
                              const std::string& harness_source, const std::string& output_folder);

/// How harness.cpp declares the function of that name, "void train_step(Rank& rank, …)"; empty if it does not.
std::string declaration_of(const std::string& function, const std::string& harness_text);

}  // namespace shardlings::grading::build

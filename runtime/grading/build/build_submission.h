/// \file
/// Makes a program of a learner's source file: the recorded compiler and linker commands, and what is refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grading/build/compile_sandbox.h"
#include "grading/build/source_copy.h"
#include "grading/build/toolchain.h"

namespace shardlings::grading::build {

/// What is made of a source file.
enum class Form : std::uint8_t {
  program,  ///< one that runs by itself: with the harness and the runtime
  jail      ///< what a broker runs for each rank: with the near side of the port alone
};
/// Its name in the output folder.
inline const char* program_name(Form form) {
  return form == Form::jail ? "jail" : "submission";
}

/// What a source did not get past, in the order in which it meets them.
enum class Wall : std::uint8_t {
  none,
  source,    ///< what the text may say (source_check.h)
  limits,    ///< time, memory and output of compiler and linker (compile_sandbox.h)
  compiler,  ///< an error of the compiler's: of the language, or of a file that the sandbox does not show
  headers,   ///< what the compiler has read (include_check.h)
  assembly,  ///< what it made of it (assembly_check.h)
  object,    ///< sections, symbols and relocations (object_check.h)
  linker     ///< something is missing, or defined twice
};

struct BuildOutcome {
  bool built = false;
  std::string log;         ///< warnings and errors of the compiler, or why the source was refused
  std::string program;     ///< path
  Wall wall = Wall::none;  ///< that stopped it; none if it is built
  SandboxReport sandbox;   ///< in which it was compiled
};

struct BuildOptions {
  Form form = Form::program;
  ToolLimits limits;
  /// Its text is not looked at: for tests, which try the walls behind that one.
  bool skips_source_check = false;
  /// Without optimisation, and with all that a debugger wants to know. At -O0 an object holds what is inlined
  /// otherwise, so nobody looks at it: such a program is never graded.
  bool for_debugger = false;
};

/// Compiles and links a copy of a source for the puzzle; the copy and the program go to `output_folder`.
/// Throws std::runtime_error for what is no fault of the source (no compiler, no such puzzle).
BuildOutcome build_submission(const Toolchain& toolchain, const std::string& puzzle_id, const SourceCopy& source,
                              const std::string& harness_source, const std::string& output_folder,
                              const BuildOptions& options = {});
/// Copies the source (a path) first.
BuildOutcome build_submission(const Toolchain& toolchain, const std::string& puzzle_id, const std::string& source,
                              const std::string& harness_source, const std::string& output_folder,
                              Form form = Form::program);

/// How harness.cpp declares the function of that name, "void train_step(Rank& rank, …)"; empty if it does not.
std::string declaration_of(const std::string& function, const std::string& harness_text);
/// The names of all functions that harness.cpp says a learner's file has, in their order.
std::vector<std::string> learner_functions(const std::string& harness_text);

}  // namespace shardlings::grading::build

/// \file
/// How submissions are compiled and linked, as CMake recorded it in toolchain.json.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace shardlings::grading::build {

struct Toolchain {
  struct Puzzle {
    std::string harness;  ///< object file
    std::string beside;   ///< object file: what of the harness stands beside the learner's code
    std::string broker;   ///< program: the harness without the learner's code
    std::string grader;   ///< program
  };
  std::string compiler;
  std::vector<std::string> compile_flags;
  std::vector<std::string> assembler;  ///< program and arguments; empty: the compiler does it
  std::vector<std::string> include_folders;
  std::string allowed_headers;              ///< a make rule: all that the standard headers for puzzles read
  std::vector<std::string> system_folders;  ///< and files: what compiler and linker read of the system
  std::vector<std::string> link_flags;
  std::string library;                       ///< libshardlings.so
  std::string main_object;                   ///< object file with main(); empty if the harness has one
  std::vector<std::string> jail_link_flags;  ///< instead of link_flags, where a jail is linked
  std::vector<std::string> jail_libraries;   ///< what jails are linked with
  /// Harness and main() of programs that train, by the word for the form of their step (cases::kTrainStepWords).
  std::map<std::string, std::string> train_objects;
  std::string clusters;                      ///< folder
  std::string root;                          ///< the project's folder, which messages leave out
  std::string gpu_probe;                     ///< program that says what GPUs there are (gpu_probe.h)
  std::map<std::string, Puzzle> puzzles;     ///< by id
  std::string text;                          ///< of the file

  /// Throws std::runtime_error if the build folder knows no such puzzle.
  const Puzzle& puzzle(const std::string& id) const;
};

/// Throws std::runtime_error that says what to do where there is no toolchain.json.
Toolchain load_toolchain(const std::string& build_folder);

}  // namespace shardlings::grading::build

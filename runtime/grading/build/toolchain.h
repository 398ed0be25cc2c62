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
    std::string grader;   ///< program
  };
  std::string compiler;
  std::vector<std::string> compile_flags;
  std::vector<std::string> include_folders;
  std::vector<std::string> link_flags;
  std::string library;                    ///< libshardlings.so
  std::string main_object;                ///< object file with main(); empty if the harness has one
  std::string train_object;               ///< harness and main() of programs that train
  std::string clusters;                   ///< folder
  std::string gpu_probe;                  ///< program that says what GPUs there are (gpu_probe.h)
  std::map<std::string, Puzzle> puzzles;  ///< by id
  std::string text;                       ///< of the file

  /// Throws std::runtime_error if the build folder knows no such puzzle.
  const Puzzle& puzzle(const std::string& id) const;
};

/// Throws std::runtime_error that says what to do where there is no toolchain.json.
Toolchain load_toolchain(const std::string& build_folder);

}  // namespace shardlings::grading::build

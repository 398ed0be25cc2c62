/// \file
/// What both programs of the command do first.
#pragma once

#include <csignal>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace shardlings::cli {

/// How the program was started.
struct Started {
  std::string program;                 ///< its path
  std::vector<std::string> arguments;  ///< without the program's name
};

inline Started started(int argc, char** argv) {
  // A parent that ignores it hands that down, and then the system does not say how our own children end.
  std::signal(SIGCHLD, SIG_DFL);
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return {error ? argv[0] : program.string(), std::vector<std::string>(argv + 1, argv + argc)};
}

}  // namespace shardlings::cli

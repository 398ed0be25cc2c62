// The program behind ./shardlings.

#include <csignal>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "cli/app.h"

int main(int argc, char** argv) {
  // A parent that ignores it hands that down, and then the system does not say how our own children end.
  std::signal(SIGCHLD, SIG_DFL);
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return shardlings::cli::run_app(error ? argv[0] : program.string(), std::vector<std::string>(argv + 1, argv + argc),
                                  std::cout, std::cerr);
}

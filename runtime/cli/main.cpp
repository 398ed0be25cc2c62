// The program behind ./shardlings.

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "cli/app.h"

int main(int argc, char** argv) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return shardlings::cli::run_app(error ? argv[0] : program.string(), std::vector<std::string>(argv + 1, argv + argc),
                                  std::cout, std::cerr);
}

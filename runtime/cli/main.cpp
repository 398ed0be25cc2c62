// The program behind ./shardlings. What it does not answer itself, it leaves to the one that knows every verb.

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include "base/machine_fault.h"
#include "cli/app.h"
#include "cli/error.h"
#include "cli/started.h"
#include "cli/system/unfinished_build.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli {
namespace {

/// Becomes the program that knows every verb, and returns only where that fails.
int become_whole(const std::string& program, char** argv) {
  const std::filesystem::path folder = std::filesystem::path(program).parent_path();
  const std::string whole = (folder / "shardlings_whole").string();
  // At the very first start it is built, with what its verbs start, while the first puzzle is read.
  for (bool has_been_said = false; system::is_being_built(folder.parent_path().string()); has_been_said = true) {
    if (!has_been_said) std::cerr << "This part of the command is still being built, which happens only once.\n";
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  execv(whole.c_str(), argv);
  std::cerr << with_advice("The program " + whole + " could not be started", errno) << '\n';
  return kNotJudged;
}

}  // namespace
}  // namespace shardlings::cli

int main(int argc, char** argv) {
  using namespace shardlings::cli;
  const Started start = started(argc, argv);
  const auto status = try_verbs(verbs::add_everyday, start.program, start.arguments, std::cout, std::cerr);
  return status ? *status : become_whole(start.program, argv);
}

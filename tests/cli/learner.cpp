#include "cli/learner.h"

#include <cstdlib>
#include <filesystem>

#include "cli/author/stub.h"
#include "support/mutants.h"

namespace shardlings::cli {

namespace fs = std::filesystem;

std::string command_path() {
  return SHARDLINGS_COMMAND;
}

Learner::Learner() {
  for (const char* part : {"puzzles", "solutions", "runtime/cli/template", "runtime/front/clock/clusters",
                           "runtime/front/clock/stacks", "runtime/memory_map"}) {
    fs::create_directories(folder_ / part);
    fs::copy(std::string(SHARDLINGS_SOURCE "/") + part, folder_ / part, fs::copy_options::recursive);
  }
  fs::create_directories(folder_ / "build");
  fs::copy_file(SHARDLINGS_TEST_TOOLCHAIN, folder_ / "build/toolchain.json");
  // Somebody who runs these tests may have solved puzzles in their own copy.
  for (const auto& entry : fs::directory_iterator(folder_ / "puzzles")) {
    const std::string id = entry.path().filename().string();
    const auto stub = author::stub_of_solution(folder_.read("solutions/" + id + "/solution.cpp"));
    if (stub) folder_.write(file_of(id), *stub);
  }
}

std::vector<std::string> Learner::environment() const {
  return {"SHARDLINGS_ROOT=" + folder_.path(), "SHARDLINGS_BUILD=" + (folder_ / "build"), "COLUMNS=100"};
}

Answer Learner::operator()(const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment) const {
  return run(arguments, environment, [] { return true; });
}

Answer Learner::when(const std::function<bool()>& let_down, const std::vector<std::string>& arguments) const {
  return run(arguments, {}, let_down);
}

Answer Learner::run(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                    const std::function<bool()>& before) const {
  std::vector<std::string> command = {command_path()}, variables = environment;
  command.insert(command.end(), arguments.begin(), arguments.end());
  for (const std::string& usual : this->environment()) variables.push_back(usual);  // of two the first one counts
  for (const char* name : {"PATH", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name)) variables.push_back(std::string(name) + "=" + value);
  }
  return answer_of(folder_.path(), command, variables, before);
}

void Learner::solve(const std::string& id) const {
  folder_.write(file_of(id), folder_.read("solutions/" + id + "/solution.cpp"));
}

void Learner::blunder(const std::string& id, const std::string& mutant) const {
  folder_.write(file_of(id), support::text_of_mutant(folder_ / "solutions", id, mutant));
}

}  // namespace shardlings::cli

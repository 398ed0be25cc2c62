// What an editor learns from build/compile_commands.json about the files that a learner edits.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "architecture/tree.h"

namespace shardlings::architecture {
namespace {

namespace fs = std::filesystem;

const std::string kBuild = SHARDLINGS_BUILD_FOLDER;

nlohmann::json json_of(const std::string& name) {
  std::ifstream file(kBuild + "/" + name);
  return nlohmann::json::parse(file, nullptr, false);
}

/// How each file is compiled, as the first entry says: an editor takes that one.
std::map<std::string, std::string> commands() {
  std::map<std::string, std::string> found;
  for (const auto& entry : json_of("compile_commands.json")) {
    found.emplace(entry.at("file"), entry.at("command"));
  }
  return found;
}

/// Absolute paths of all files of that name.
std::vector<std::string> files(const std::string& folder, const std::string& name) {
  std::vector<std::string> paths;
  for (const Source& source : sources(folder, {name})) paths.push_back(project_folder() + "/" + source.path);
  return paths;
}

class Editors : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kBuild + "/compile_commands.json"))
      GTEST_SKIP() << "needs compile_commands.json: build with Ninja or make";
  }
};

TEST_F(Editors, AreToldHowALearnersFileIsCompiled) {
  const auto known = commands();
  const auto toolchain = json_of("toolchain.json");
  std::vector<std::string> paths = files("puzzles", "puzzle.cpp");
  ASSERT_FALSE(paths.empty());
  for (const std::string& path : files("solutions", "solution.cpp")) paths.push_back(path);
  for (const std::string& path : paths) {
    const auto found = known.find(path);
    ASSERT_NE(found, known.end()) << path << " is missing";
    std::string command = found->second;
    std::erase(command, '"');  // they stand around paths with spaces
    EXPECT_EQ(command.find(" -include "), std::string::npos) << "a header that only one compiler can read: " << command;
    for (const std::string flag : toolchain.at("compile_flags")) {
      EXPECT_NE(command.find(" " + flag), std::string::npos) << path << ": " << flag;
    }
    for (const std::string folder : toolchain.at("include_folders")) {
      EXPECT_NE(command.find(" -I" + folder), std::string::npos) << path << ": " << folder;
    }
  }
}

// A solution stands for the stub here, which on a learner's machine may hold anything.
TEST_F(Editors, CanCompileAFileThatWay) {
  const auto known = commands();
  const auto solutions = files("solutions", "solution.cpp");
  if (solutions.empty()) GTEST_SKIP() << "needs solutions/, which a course for learners may lack";
  ASSERT_TRUE(known.contains(solutions.front()));
  const ProgramRun compiler = run("cd '" + kBuild + "' && " + known.at(solutions.front()) + " -fsyntax-only");
  EXPECT_EQ(compiler.status, 0) << compiler.output;
}

TEST_F(Editors, FindNothingWrongWithClangd) {
  if (run("command -v clangd").status != 0) GTEST_SKIP() << "needs clangd on the PATH: apt-get install clangd";
  const auto solutions = files("solutions", "solution.cpp");
  if (solutions.empty()) GTEST_SKIP() << "needs solutions/, which a course for learners may lack";
  const ProgramRun check = run("clangd --compile-commands-dir='" + kBuild + "' --check='" + solutions.front() + "'");
  EXPECT_EQ(check.status, 0) << check.output;
  EXPECT_NE(check.output.find("Compile command from CDB"), std::string::npos) << check.output;
}

}  // namespace
}  // namespace shardlings::architecture

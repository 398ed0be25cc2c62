// The image for those who cannot build natively: what only Docker could try, as far as texts can tell it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "architecture/tree.h"

namespace shardlings::architecture {
namespace {

using testing::IsSubsetOf;

std::string text_of(const std::string& path) {
  return file_text(project_folder() + "/" + path);
}

nlohmann::json settings() {
  return nlohmann::json::parse(text_of(".devcontainer/devcontainer.json"));
}

/// The instructions, continued lines joined, without comments.
std::vector<std::string> instructions() {
  std::vector<std::string> found;
  bool continues = false;
  for (std::string line : lines_of(text_of(".devcontainer/Dockerfile"))) {
    if (line.empty() || line[0] == '#') continue;
    const bool goes_on = line.back() == '\\';
    if (goes_on) line.pop_back();
    if (continues) {
      found.back() += line;
    } else {
      found.push_back(line);
    }
    continues = goes_on;
  }
  return found;
}

/// The packages of every "apt-get install" of the image, in its order.
std::vector<std::vector<std::string>> installed() {
  static const std::regex install("apt-get install ([^&]*)");
  std::vector<std::vector<std::string>> lists;
  for (const std::string& instruction : instructions()) {
    for (std::sregex_iterator it(instruction.begin(), instruction.end(), install), end; it != end; ++it) {
      std::istringstream words((*it)[1].str());
      lists.emplace_back();
      for (std::string word; words >> word;) {
        if (word[0] != '-') lists.back().push_back(word);
      }
    }
  }
  return lists;
}

/// The packages of one of the start script's lists.
std::vector<std::string> packages_of_start_script(const std::string& list) {
  std::vector<std::string> packages;
  bool inside = false;
  for (const std::string& line : lines_of(text_of("shardlings"))) {
    if (line == list + "=(") {
      inside = true;
    } else if (line == ")") {
      inside = false;
    } else if (inside) {
      packages.push_back(line.substr(3, line.find(' ', 3) - 3));  // "  'g++    program g++'"
    }
  }
  return packages;
}

/// The argument of an instruction that must be there once.
std::string argument_of(const std::string& name) {
  std::string argument;
  int times = 0;
  for (const std::string& instruction : instructions()) {
    if (!starts_with(instruction, name + " ")) continue;
    argument = instruction.substr(name.size() + 1);
    ++times;
  }
  EXPECT_EQ(times, 1) << name;
  return argument;
}

TEST(Container, HasThePackagesOfTheStartScript) {
  std::vector<std::string> wanted = packages_of_start_script("needed");
  ASSERT_GT(wanted.size(), 5U);
  for (const std::string& package : packages_of_start_script("useful")) wanted.push_back(package);
  ASSERT_EQ(installed().size(), 2U);
  EXPECT_EQ(installed()[0], wanted);
  EXPECT_THAT(std::vector<std::string>({"clangd", "git", "sudo"}), IsSubsetOf(installed()[1]));
}

TEST(Container, BeginsWithASystemThatTheReadmeNames) {
  EXPECT_EQ(argument_of("FROM"), "debian:12");
  EXPECT_NE(text_of("README.md").find("On Debian 12 "), std::string::npos);
}

TEST(Container, WorksAsAUserWhoIsNotRoot) {
  const std::string user = argument_of("USER");
  EXPECT_NE(user, "root");
  bool made = false;
  for (const std::string& instruction : instructions()) {
    made = made || (instruction.find("useradd ") != std::string::npos &&
                    instruction.find(" " + user + " ") != std::string::npos);
  }
  EXPECT_TRUE(made) << user;
  EXPECT_EQ(settings().at("remoteUser"), user);
}

TEST(Container, IsWhatEditorsBuild) {
  EXPECT_FALSE(text_of(".devcontainer/" + settings().at("build").at("dockerfile").get<std::string>()).empty());
  const std::string command = settings().at("updateContentCommand");
  EXPECT_TRUE(starts_with(command, "./shardlings"));
}

}  // namespace
}  // namespace shardlings::architecture

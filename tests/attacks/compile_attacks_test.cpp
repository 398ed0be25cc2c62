// Attacks through the compiler: each is stopped by the wall that its section names, and by the next one if the first is
// taken away. Honest programs pass all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "attacks/attack_file.h"
#include "grading/build/build_submission.h"
#include "grading/run/supervisor.h"

namespace shardlings::attacks {
namespace {

using namespace grading::build;
using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace fs = std::filesystem;

constexpr const char* kSecretText = "constexpr int kSecret = 4711;\n";

/// Sanitizers put data and constructors of their own into every object, so that it is not looked at.
bool is_sanitized() {
  return grading::run::default_limits(1).memory_bytes == 0;
}

const char* name_of(Wall wall) {
  constexpr const char* kNames[] = {"none", "source", "limits", "compiler", "headers", "assembly", "object", "linker"};
  return kNames[static_cast<int>(wall)];
}

/// A folder for one attack, with a file outside of what a compiler may read.
class CompileAttacks : public ::testing::TestWithParam<Attack> {
 protected:
  CompileAttacks() {
    std::string pattern = (fs::temp_directory_path() / "shardlings-attack-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for temporary files");
    folder_ = pattern;
    fs::create_directory(folder_ / "build");
    std::ofstream(folder_ / "secret.h") << kSecretText;
  }
  ~CompileAttacks() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string source_of(std::string text) const {
    const auto replace = [&text](const std::string& word, const std::string& by) {
      for (auto at = text.find(word); at != std::string::npos; at = text.find(word)) text.replace(at, word.size(), by);
    };
    replace("{ROOT}", SHARDLINGS_SOURCE_FOLDER);
    replace("{SECRET}", (folder_ / "secret.h").string());
    if (text.find("<shardlings/puzzle.h>") == std::string::npos) {
      text = "#include <shardlings/puzzle.h>\n#include <cstdio>\nusing namespace shardlings;\n" + text;
    }
    if (text.find("sum_up(") == std::string::npos) text += "void sum_up(Rank&, View) {}\n";
    return text;
  }

  BuildOutcome build(const std::string& text, const BuildOptions& options) const {
    const SourceCopy source{(folder_ / "puzzle.cpp").string(), "puzzle.cpp", source_of(text)};
    return build_submission(load_toolchain(SHARDLINGS_TEST_BUILD), "50_sum", source,
                            SHARDLINGS_SOURCE_FOLDER "/tests/grading/puzzle/50_sum/harness.cpp",
                            (folder_ / "build").string(), options);
  }

  fs::path folder_;
};

/// Short, so that what goes on without end is stopped soon.
BuildOptions short_options(bool skips_source_check) {
  BuildOptions options;
  options.limits.cpu_seconds = 5;
  options.limits.file_bytes = std::int64_t{32} << 20;
  options.limits.memory_bytes = std::int64_t{1} << 30;
  options.skips_source_check = skips_source_check;
  return options;
}

/// One of "headers/compiler".
bool is_allowed(const std::string& walls, Wall wall) {
  std::istringstream words(walls);
  for (std::string word; std::getline(words, word, '/');) {
    if (word == name_of(wall)) return true;
  }
  return false;
}

TEST_P(CompileAttacks, AreStoppedByTheirWall) {
  if (is_sanitized()) GTEST_SKIP() << "objects are not looked at";
  const auto& walls = GetParam().walls;
  ASSERT_FALSE(walls.empty());
  for (std::size_t i = 0; i < walls.size(); ++i) {
    const BuildOutcome outcome = build(GetParam().text, short_options(i > 0));
    EXPECT_TRUE(is_allowed(walls[i], outcome.wall))
        << "stopped by " << name_of(outcome.wall) << ", not by " << walls[i] << ":\n"
        << outcome.log;
    EXPECT_EQ(outcome.built, outcome.wall == Wall::none);
    if (outcome.wall == Wall::source) {
      EXPECT_THAT(outcome.log, ::testing::ContainsRegex("^puzzle.cpp:[0-9]+: "));
    }
    if (outcome.wall == Wall::limits || outcome.wall == Wall::object || outcome.wall == Wall::headers) {
      EXPECT_THAT(outcome.log, StartsWith("puzzle.cpp"));
    }
    EXPECT_THAT(outcome.log, ::testing::Not(HasSubstr("4711"))) << "it has read the secret";
  }
}

INSTANTIATE_TEST_SUITE_P(All, CompileAttacks, ::testing::ValuesIn(load_attacks(SHARDLINGS_ATTACKS "/compile")),
                         [](const auto& tested) { return tested.param.name; });

class HonestPrograms : public CompileAttacks {};

TEST_P(HonestPrograms, PassAllWalls) {
  const BuildOutcome outcome = build(GetParam().text, {});
  EXPECT_EQ(outcome.wall, Wall::none) << name_of(outcome.wall) << ":\n" << outcome.log;
  EXPECT_TRUE(fs::exists(outcome.program));
}

INSTANTIATE_TEST_SUITE_P(All, HonestPrograms, ::testing::ValuesIn(load_attacks(SHARDLINGS_ATTACKS "/honest.txt")),
                         [](const auto& tested) { return tested.param.name; });

TEST(Attacks, AreManyAndHaveNamesOfTheirOwn) {
  const std::vector<Attack> attacks = load_attacks(SHARDLINGS_ATTACKS "/compile");
  EXPECT_GE(attacks.size(), 100U);
  EXPECT_GE(load_attacks(SHARDLINGS_ATTACKS "/honest.txt").size(), 25U);
  std::vector<std::string> names;
  for (const Attack& attack : attacks) names.push_back(attack.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace shardlings::attacks

// `--collection FOLDER`: puzzles outside of the repository.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/learner.h"

namespace shardlings::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kOwn = "90_sum_over_ranks";

class Collection : public testing::Test {
 protected:
  Answer with(std::vector<std::string> words) const {
    words.insert(words.end(), {"--collection", own_.path()});
    return shardlings_(words);
  }
  void fill() const { fs::copy(SHARDLINGS_FILLED, own_.path(), fs::copy_options::recursive); }

  Learner shardlings_;
  TemporaryFolder own_{"own puzzles"};
};

TEST_F(Collection, IsListedRunAndVerifiedInPlaceOfTheRepositorys) {
  fill();
  const json list = json::parse(with({"list", "--json"}).out);
  ASSERT_EQ(list["puzzles"].size(), 1U);
  EXPECT_EQ(list["puzzles"][0]["id"], kOwn);
  EXPECT_EQ(with({"run", "90"}).status, 1) << "the stub";
  own_.write(Learner::file_of(kOwn), own_.read(std::string("solutions/") + kOwn + "/solution.cpp"));
  const Answer passed = with({"run", "90"});
  EXPECT_EQ(passed.status, 0) << passed.out << passed.err;
  EXPECT_TRUE(fs::exists(own_ / ".shardlings/progress.json")) << "progress lies with the puzzles";
  EXPECT_FALSE(fs::exists(shardlings_.folder() / ".shardlings"));
  EXPECT_EQ(with({"reset", "90"}).status, 0);
  const Answer verified = with({"verify", "--goals", "90"});
  EXPECT_EQ(verified.status, 0) << verified.out << verified.err;
  EXPECT_TRUE(fs::exists(own_ / (std::string("puzzles/") + kOwn + "/goal.json")));
  EXPECT_THAT(shardlings_({"list", "--all"}).out, Not(HasSubstr("Sum over ranks"))) << "the repository has it not";
}

TEST_F(Collection, BeginsWithANewPuzzle) {
  const Answer empty = with({"list"});
  EXPECT_EQ(empty.status, 2);
  EXPECT_THAT(empty.err, HasSubstr("./shardlings new"));
  const Answer made = with({"new", "51_mine"});
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_TRUE(fs::exists(own_ / "puzzles/51_mine/puzzle.toml"));
  EXPECT_TRUE(fs::exists(own_ / "solutions/51_mine/solution.cpp"));
  EXPECT_THAT(with({"new", "51_other"}).err, HasSubstr("taken"));
}

TEST_F(Collection, TakesNoNameOfTheRepositorys) {
  fill();
  own_.write("puzzles/01_training_step/puzzle.toml", "");
  const Answer answer = with({"list"});
  EXPECT_EQ(answer.status, 2);
  EXPECT_THAT(answer.err, AllOf(HasSubstr("01_training_step"), HasSubstr("another name")));
}

TEST_F(Collection, TakesNoNameOfAnotherCollectionThatIsBuilt) {
  fill();
  const TemporaryFolder other{"other puzzles"};
  fs::copy(SHARDLINGS_FILLED, other.path(), fs::copy_options::recursive);
  const std::string cache = shardlings_.folder() / "build/CMakeCache.txt";
  shardlings_.folder().write("build/CMakeCache.txt", "SHARDLINGS_COLLECTIONS:STRING=" + other.path() + "\n");
  const Answer answer = with({"list"});
  EXPECT_EQ(answer.status, 2);
  EXPECT_THAT(answer.err, AllOf(HasSubstr(other.path()), HasSubstr(kOwn), HasSubstr("another name")));
  fs::remove_all(other / "puzzles");
  EXPECT_EQ(with({"list"}).status, 0) << "it is gone";
  fs::remove(cache);
}

// Without compiling anything: what CMake would build, and how its programs are found.
TEST_F(Collection, IsKnownToTheBuild) {
  fill();
  const TemporaryFolder build;
  const Answer answer =
      answer_of(build.path(),
                {SHARDLINGS_CMAKE, "-S", SHARDLINGS_SOURCE, "-B", build.path(), "-G", "Ninja", "-DSHARDLINGS_TESTS=OFF",
                 "-DSHARDLINGS_CUDA=OFF", "-DSHARDLINGS_COLLECTIONS=" + own_.path()},
                {path_variable()});
  ASSERT_EQ(answer.status, 0) << answer.out << answer.err;
  const json toolchain = json::parse(build.read("toolchain.json"));
  EXPECT_TRUE(toolchain["puzzles"].contains(kOwn));
  EXPECT_TRUE(toolchain["puzzles"].contains(kFirst));
}

}  // namespace
}  // namespace shardlings::cli

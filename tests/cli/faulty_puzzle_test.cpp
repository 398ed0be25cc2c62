// One faulty puzzle must not stop the others: the command goes on and says which it is, and what is wrong with it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/learner.h"
#include "cli/terminal.h"

namespace shardlings::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFaulty = "09_data_parallel";

std::string file(const std::string& name) {
  return std::string("puzzles/") + kFaulty + "/" + name;
}

struct Damage {
  const char* name;
  void (*does)(const TemporaryFolder& folder);
  const char* reason;
};

void PrintTo(const Damage& damage, std::ostream* out) {
  *out << damage.name;
}

const Damage kDamages[] = {
    {"misspelt_key",
     [](const TemporaryFolder& folder) {
       folder.write(file("puzzle.toml"), "# A lesson.\ntitel" + folder.read(file("puzzle.toml")).substr(5));
     },
     "puzzles/09_data_parallel/puzzle.toml:2: unknown key 'titel'; did you mean 'title'?"},
    {"no_toml",
     [](const TemporaryFolder& folder) {
       folder.write(file("puzzle.toml"), "title = \"Data parallel\"\nchapter = ?\n");
     },
     "puzzles/09_data_parallel/puzzle.toml:2: "},
    {"no_grader", [](const TemporaryFolder& folder) { fs::remove(folder / file("grader.cpp")); },
     "puzzles/09_data_parallel/grader.cpp is missing"},
    {"no_harness", [](const TemporaryFolder& folder) { fs::remove(folder / file("harness.cpp")); },
     "puzzles/09_data_parallel/harness.cpp is missing"},
    {"no_manifest", [](const TemporaryFolder& folder) { fs::remove(folder / file("puzzle.toml")); },
     "puzzles/09_data_parallel/puzzle.toml is missing"},
    {"grader_does_not_build",
     [](const TemporaryFolder& folder) {
       folder.write("build/build.log",
                    "FAILED: CMakeFiles/grader_09_data_parallel.dir/puzzles/09_data_parallel/grader.cpp.o\nc++\n"
                    "../puzzles/09_data_parallel/grader.cpp:30:2: error: what is this?\n");
     },
     "its grader does not build: puzzles/09_data_parallel/grader.cpp:30:2: error: what is this?"},
    {"harness_does_not_build",
     [](const TemporaryFolder& folder) {
       folder.write("build/build.log",
                    "FAILED: CMakeFiles/harness_09_data_parallel.dir/puzzles/09_data_parallel/harness.cpp.o\nc++\n"
                    "../puzzles/09_data_parallel/harness.cpp:3:1: error: what is this?\n");
     },
     "its harness does not build: puzzles/09_data_parallel/harness.cpp:3:1: error: what is this?"},
};

class FaultyPuzzle : public testing::TestWithParam<Damage> {
 protected:
  FaultyPuzzle() { GetParam().does(shardlings_.folder()); }
  Learner shardlings_;
};

TEST_P(FaultyPuzzle, IsNamedByTheListOfTheOthers) {
  const Answer text = shardlings_({"list"}, {"COLUMNS=200"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("One training step"), HasSubstr(kFaulty), HasSubstr(GetParam().reason)));
  const json data = json::parse(shardlings_({"list", "--json"}).out);
  ASSERT_EQ(data["faulty"].size(), 1U);
  EXPECT_EQ(data["faulty"][0]["id"], kFaulty);
  EXPECT_THAT(data["faulty"][0]["reason"], HasSubstr(GetParam().reason));
  for (const json& puzzle : data["puzzles"]) EXPECT_NE(puzzle["id"], kFaulty);
  EXPECT_GT(data["puzzles"].size(), 2U);
}

TEST_P(FaultyPuzzle, IsRefusedWithTheReason) {
  const Answer answer = shardlings_({"run", "09"});
  EXPECT_EQ(answer.status, 3) << "nobody who solves it has done that";
  EXPECT_THAT(answer.err, AllOf(HasSubstr(kFaulty), HasSubstr(GetParam().reason)));
}

INSTANTIATE_TEST_SUITE_P(Each, FaultyPuzzle, testing::ValuesIn(kDamages),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FaultyPuzzles, LeaveTheOthersToBeGraded) {
  const Learner shardlings;
  kDamages[0].does(shardlings.folder());
  shardlings.solve(kFirst);
  const Answer answer = shardlings({"run", "01"});
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("is solved"));
  EXPECT_THAT(answer.err, AllOf(HasSubstr(kFaulty), HasSubstr("unknown key 'titel'")));
}

TEST(FaultyPuzzles, LeaveTheOthersToBeWatched) {
  const Learner learner;
  kDamages[5].does(learner.folder());
  Terminal terminal(learner, {"watch"}, {"COLUMNS=200"}, 200);
  ASSERT_TRUE(terminal.shows("grader.cpp:30:2: error: what is this?")) << terminal.everything();
  ASSERT_TRUE(terminal.shows("not yet")) << terminal.everything();
  terminal.type("q");
  EXPECT_EQ(terminal.finish(), 0);
}

/// `./shardlings test` where scripts stand for CMake, whose build goes wrong, and for ctest.
Answer test_with_failing_build(const Learner& learner) {
  const std::string tools = learner.folder() / "tools";
  const auto script = [&](const std::string& name, const std::string& text) {
    learner.folder().write("tools/" + name, "#!/bin/sh\n" + text);
    fs::permissions(tools + "/" + name, fs::perms::owner_all);
  };
  script("cmake", "echo \"cmake $*\"\nexit 1\n");
  script("ctest", "echo \"ctest $*\"\n");
  std::vector<std::string> environment = learner.environment();
  environment.push_back("PATH=" + tools + ":/usr/bin:/bin");
  return answer_of(learner.folder().path(), {command_path(), "test"}, environment);
}

TEST(FaultyPuzzles, DoNotStopTheProjectsOwnTests) {
  const Learner learner;
  kDamages[5].does(learner.folder());
  const Answer answer = test_with_failing_build(learner);
  EXPECT_EQ(answer.status, 1) << "not all is well";
  EXPECT_THAT(answer.err, AllOf(HasSubstr("The grader of the puzzle 09_data_parallel does not build"),
                                HasSubstr("grader.cpp:30:2: error: what is this?")));
  EXPECT_THAT(answer.out, AllOf(HasSubstr("-k 0"), HasSubstr("ctest --test-dir")));
}

TEST(FaultyPuzzles, AreNotBlamedForTestsThatDoNotBuild) {
  const Learner learner;
  const Answer answer = test_with_failing_build(learner);
  EXPECT_EQ(answer.status, 1);
  EXPECT_THAT(answer.err, HasSubstr("The tests do not build"));
  EXPECT_THAT(answer.out, Not(HasSubstr("ctest")));
}

TEST(FaultyPuzzles, MakeVerificationFail) {
  const Learner shardlings;
  for (const auto& entry : fs::directory_iterator(shardlings.folder() / "puzzles")) {
    const std::string id = entry.path().filename();
    if (id != kFirst && id != kFaulty) fs::remove_all(entry.path());
  }
  fs::remove_all(shardlings.folder() / ("solutions/" + std::string(kFirst) + "/mutants"));
  kDamages[2].does(shardlings.folder());
  const Answer answer = shardlings({"verify"});
  EXPECT_EQ(answer.status, 1);
  EXPECT_THAT(answer.err, HasSubstr("grader.cpp is missing"));
  EXPECT_THAT(answer.out, HasSubstr("01_training_step"));
}

TEST(FaultyPuzzles, MayBeACopyThatSomebodyMade) {
  const Learner shardlings;
  const std::string puzzles = shardlings.folder() / "puzzles";
  fs::copy(puzzles + "/" + kFaulty, puzzles + "/" + kFaulty + " (copy)", fs::copy_options::recursive);
  const Answer answer = shardlings({"list"}, {"COLUMNS=200"});
  EXPECT_EQ(answer.status, 0);
  EXPECT_THAT(answer.out, HasSubstr("letters, digits and _ only"));
  EXPECT_EQ(shardlings({"explain", "09_data_parallel"}).status, 0);
}

TEST(FaultyPuzzles, AreMendedByAnyBuildSince) {
  const Learner shardlings;
  kDamages[5].does(shardlings.folder());
  fs::last_write_time(shardlings.folder() / "build/build.log",
                      fs::file_time_type::clock::now() - std::chrono::years(30));
  EXPECT_EQ(json::parse(shardlings({"list", "--json"}).out)["faulty"], json::array());
}

}  // namespace
}  // namespace shardlings::cli

#include "cli/learner/build_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cli/folder.h"

namespace shardlings::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

const system::Project kProject{"/home/me/course", "/home/me/course/build"};

std::vector<learner::BuildFailure> failures(const std::string& text) {
  std::istringstream log(text);
  return learner::failures_in(log, kProject);
}

TEST(BuildLog, NamesTheFirstErrorOfEachPuzzle) {
  EXPECT_THAT(
      failures("[1/4] Building CXX object CMakeFiles/grader_01_a.dir/puzzles/01_a/grader.cpp.o\n"
               "[2/4] Building CXX object CMakeFiles/grader_02_b.dir/puzzles/02_b/grader.cpp.o\n"
               "FAILED: CMakeFiles/grader_02_b.dir/puzzles/02_b/grader.cpp.o \n"
               "/usr/bin/c++ -c /home/me/course/puzzles/02_b/grader.cpp\n"
               "In file included from ../puzzles/02_b/grader.cpp:1:\n"
               "../puzzles/02_b/grader.cpp:7:3: warning: never mind\n"
               "../puzzles/02_b/grader.cpp:9:5: error: no such thing\n"
               "../puzzles/02_b/grader.cpp:10:5: error: nor this\n"
               "[3/4] Building CXX object CMakeFiles/harness_03_c.dir/puzzles/03_c/harness.cpp.o\n"
               "FAILED: [code=1] CMakeFiles/harness_03_c.dir/puzzles/03_c/harness.cpp.o \n"
               "/usr/bin/c++ -c harness.cpp\n"
               "/home/me/course/puzzles/03_c/harness.cpp:1:10: fatal error: nothing.h: No such file\n"
               "ninja: build stopped: cannot make progress due to previous errors.\n"),
      ElementsAre(learner::BuildFailure{"02_b", "grader", "puzzles/02_b/grader.cpp:9:5: error: no such thing"},
                  learner::BuildFailure{"03_c", "harness",
                                        "puzzles/03_c/harness.cpp:1:10: fatal error: nothing.h: No such file"}));
}

TEST(BuildLog, NamesTheFirstErrorOfAProjectInAFolderWithABlank) {
  std::istringstream log(
      "FAILED: CMakeFiles/grader_02_b.dir/puzzles/02_b/grader.cpp.o \n"
      "/usr/bin/c++ -c '/home/me/my course/puzzles/02_b/grader.cpp'\n"
      "/home/me/my course/puzzles/02_b/grader.cpp:7:3: warning: never mind\n"
      "/home/me/my course/puzzles/02_b/grader.cpp:9:5: error: no such thing\n");
  EXPECT_THAT(
      learner::failures_in(log, {"/home/me/my course", "/home/me/my course/build"}),
      ElementsAre(learner::BuildFailure{"02_b", "grader", "puzzles/02_b/grader.cpp:9:5: error: no such thing"}));
}

TEST(BuildLog, TakesWhatTheBuildSaidFirstWhereNoSourceIsToBlame) {
  EXPECT_THAT(failures("FAILED: graders/grader_02_b \n"
                       ": && /usr/bin/c++ -o graders/grader_02_b && :\n"
                       "/usr/bin/ld: undefined reference to `judge()'\n"
                       "collect2: error: ld returned 1 exit status\n"),
              ElementsAre(learner::BuildFailure{"02_b", "grader", "/usr/bin/ld: undefined reference to `judge()'"}));
}

TEST(BuildLog, IsSilentAboutWhatIsNoPuzzles) {
  EXPECT_THAT(failures("FAILED: bin/shardlings_train \nc++\nx.cpp:1:1: error: no\n[1/1] Building\n"), IsEmpty());
  EXPECT_THAT(learner::build_failures({"/nowhere", "/nowhere/build"}), IsEmpty());
}

/// A build by CMake and Ninja of puzzles in the same way as the project's.
TEST(BuildLog, ReadsWhatNinjaWrites) {
  const TemporaryFolder folder;
  folder.write("CMakeLists.txt",
               "cmake_minimum_required(VERSION 3.22)\n"
               "set(CMAKE_CXX_COMPILER_WORKS TRUE)\n"
               "project(log LANGUAGES CXX)\n"
               "add_executable(grader_01_a puzzles/01_a/grader.cpp)\n"
               "add_executable(grader_02_b puzzles/02_b/grader.cpp)\n"
               "add_library(harness_03_c OBJECT puzzles/03_c/harness.cpp)\n");
  folder.write("puzzles/01_a/grader.cpp", "int judge();\nint main() { return judge(); }\n");
  folder.write("puzzles/02_b/grader.cpp", "int main() {\n  return what;\n}\n");
  folder.write("puzzles/03_c/harness.cpp", "int harness();\n");
  const std::string build = folder / "build";
  const std::string commands = "cd '" + folder.path() + "' && cmake -S . -B build -G Ninja > build.log 2>&1 && " +
                               "cmake --build build -- -k 0 >> build.log 2>&1";
  EXPECT_NE(std::system(commands.c_str()), 0);
  std::ifstream log(folder / "build.log");
  std::vector<learner::BuildFailure> found = learner::failures_in(log, {folder.path(), build});
  ASSERT_EQ(found.size(), 2U) << folder.read("build.log");
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  EXPECT_EQ(found[0].id, "01_a");
  EXPECT_THAT(found[0].reason, testing::HasSubstr("judge"));
  EXPECT_EQ(found[1].id, "02_b");
  EXPECT_THAT(found[1].reason, StartsWith("puzzles/02_b/grader.cpp:2:10: error: "));
}

}  // namespace
}  // namespace shardlings::cli

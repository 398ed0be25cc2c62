// The start script, with CMake and apt-get replaced by scripts that note how they were called.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "cli/folder.h"
#include "support/waits.h"

namespace shardlings::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Configures by noting where, and builds a command that prints its arguments and ends with 7. What it says of puzzles
// that do not build is in the file $PUZZLES; building all of them lasts as long as there is a file $HOLD.
constexpr const char* kCMake = R"(#!/bin/bash
echo "cmake $*" >> "$CALLS"
if [[ -e $BROKEN ]]; then echo "something is wrong with line 3"; exit 1; fi
if [[ $1 == -S ]]; then
  mkdir -p "$4"
  printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\nCMAKE_CACHEFILE_DIR:INTERNAL=%s\n' "$2" "$4" > "$4/CMakeCache.txt"
  if [[ $* == *-DSHARDLINGS_WERROR=ON* ]]; then echo SHARDLINGS_WERROR:BOOL=ON >> "$4/CMakeCache.txt"; fi
else
  mkdir -p "$2/bin"
  echo "[1/1] Building"
  printf '#!/bin/bash\necho "command: $*"\nexit 7\n' > "$2/bin/shardlings"
  chmod +x "$2/bin/shardlings"
  if [[ $* == *"--target learner"* ]]; then
    while [[ -e $HOLD ]]; do sleep 0.05; done
    if [[ -e $PUZZLES ]]; then cat "$PUZZLES"; exit 1; fi
  fi
fi
)";

constexpr const char* kAptGet = R"(#!/bin/bash
echo "apt-get $*" >> "$CALLS"
if [[ -e $BROKEN ]]; then echo "no network"; exit 1; fi
)";

class StartScript : public testing::Test {
 protected:
  StartScript() {
    fs::create_directories(clone_);
    fs::copy_file(SHARDLINGS_SOURCE "/shardlings", clone_ + "/shardlings");
    folder_.write("a clone/CMakeLists.txt", "");
    folder_.write("a clone/runtime/cli/run.cpp", "");
    for (const char* file : {"harness.cpp", "grader.cpp", "puzzle.cpp", "puzzle.toml"}) {
      folder_.write(std::string("a clone/puzzles/01_a/") + file, "");
    }
    script("cmake", kCMake);
    script("apt-get", kAptGet);
    for (const char* tool : {"bash", "cat", "chmod", "dirname", "env", "find", "flock", "grep", "mkdir", "mv", "nice",
                             "readlink", "sed", "setsid", "sleep", "tail", "touch"}) {
      const std::string path = fs::exists(std::string("/usr/bin/") + tool) ? "/usr/bin/" : "/bin/";
      fs::create_symlink(path + tool, folder_ / "tools/" + tool);
    }
    for (const char* tool : {"g++", "ninja"}) script(tool, "#!/bin/bash\n");
  }

  void script(const std::string& name, const std::string& text) {
    folder_.write("tools/" + name, text);
    fs::permissions(folder_ / "tools/" + name, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
  }

  Answer start(const std::vector<std::string>& arguments = {}, const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {clone_ + "/shardlings"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    fs::remove(folder_ / "calls");
    return run(command, more);
  }
  /// `script` gives it a terminal.
  Answer start_in_terminal(const std::vector<std::string>& more = {}) {
    return run({"/usr/bin/script", "-qec", "'" + clone_ + "/shardlings'", "/dev/null"}, more);
  }
  Answer run(const std::vector<std::string>& command, const std::vector<std::string>& more) const {
    std::vector<std::string> environment = {"PATH=" + (folder_ / "tools"),          "SHELL=/bin/bash",
                                            "CALLS=" + (folder_ / "calls"),         "BROKEN=" + (folder_ / "broken"),
                                            "PUZZLES=" + (folder_ / "puzzles.log"), "HOLD=" + (folder_ / "hold")};
    environment.insert(environment.end(), more.begin(), more.end());
    return answer_of("/", command, environment);
  }
  std::string calls() const { return folder_.read("calls"); }

  TemporaryFolder folder_;
  std::string clone_ = folder_ / "a clone";
};

TEST_F(StartScript, BuildsAndStartsTheCommand) {
  const Answer answer = start({"run", "two words"});
  EXPECT_EQ(answer.status, 7) << answer.err;
  EXPECT_EQ(answer.out, "command: run two words\n");
  EXPECT_THAT(calls(), AllOf(HasSubstr("cmake -S " + clone_), HasSubstr("--target learner")));
}

TEST_F(StartScript, BuildsNothingTheSecondTime) {
  start();
  EXPECT_EQ(start().out, "command: \n");
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(StartScript, ShowsThePersonTheFirstPuzzleBeforeTheOthersAreBuilt) {
  folder_.write("hold", "");
  const Answer first = start_in_terminal();
  EXPECT_THAT(first.out, HasSubstr("command: "));
  EXPECT_THAT(calls(), HasSubstr("--target first"));
  EXPECT_FALSE(fs::exists(clone_ + "/build/.built"));
  EXPECT_EQ(start({"run", "01"}).out, "command: run 01\n")
      << "what it needs beyond the first puzzle, it waits for itself";
  EXPECT_FALSE(fs::exists(clone_ + "/build/.built"));
  fs::remove(folder_ / "hold");
  ASSERT_TRUE(support::comes_true([&] { return fs::exists(clone_ + "/build/.built"); })) << "the rest is never built";
  EXPECT_EQ(start({"run", "02"}).out, "command: run 02\n");
  EXPECT_THAT(calls(), Not(HasSubstr("cmake -S"))) << "nothing is left to be built";
}

TEST_F(StartScript, BuildsAllForAPersonWhoKnowsTheCommandAlready) {
  script("doxygen", "#!/bin/bash\n");
  start_in_terminal({"SHARDLINGS_DEVELOPER=1"});
  EXPECT_THAT(calls(), AllOf(HasSubstr("--target learner"), Not(HasSubstr("--target first"))));
  folder_.write("a clone/puzzles/01_a/grader.cpp", "changed");
  start_in_terminal();
  EXPECT_THAT(calls(), AllOf(HasSubstr("--target learner"), Not(HasSubstr("--target first"))));
}

TEST_F(StartScript, DoesNotMindWhatTheLearnerWrites) {
  start();
  folder_.write("a clone/puzzles/01_a/puzzle.cpp", "int a;");
  folder_.write("a clone/puzzles/01_a/.puzzle.cpp.swp", "");
  start();
  EXPECT_THAT(calls(), IsEmpty());
}

class StartScriptInput : public StartScript, public testing::WithParamInterface<const char*> {};

TEST_P(StartScriptInput, IsBuiltAnew) {
  start();
  folder_.write(std::string("a clone/") + GetParam(), "changed");
  start();
  EXPECT_THAT(calls(), HasSubstr("--build"));
}

INSTANTIATE_TEST_SUITE_P(StartScript, StartScriptInput,
                         testing::Values("CMakeLists.txt", "runtime/cli/verbs/run.cpp", "runtime/new.cpp",
                                         "puzzles/01_a/harness.cpp", "puzzles/01_a/grader.cpp",
                                         "puzzles/01_a/puzzle.toml", "puzzles/01_a/plan.h",
                                         "puzzles/01_a/questions.cpp", "puzzles/02_b/grader.cpp"));

TEST_F(StartScript, NoticesThatSomethingOptionalIsInstalledNow) {
  if (!fs::exists("/usr/include/archive.h")) GTEST_SKIP() << "takes libarchive-dev";
  start();
  const std::string cache = folder_.read("a clone/build/CMakeCache.txt");
  folder_.write("a clone/build/CMakeCache.txt",
                cache + "LibArchive_INCLUDE_DIR:PATH=LibArchive_INCLUDE_DIR-NOTFOUND\n");
  start();
  EXPECT_THAT(calls(), AllOf(HasSubstr("cmake -S"), HasSubstr("--target learner")));
  start();
  EXPECT_THAT(calls(), IsEmpty()) << "it has been found";
}

TEST_F(StartScript, NoticesAnOldFileThatTakesTheOldPlace) {
  folder_.write("a clone/old.cpp", "older than everything");
  fs::last_write_time(clone_ + "/old.cpp", fs::file_time_type::clock::now() - std::chrono::hours(1000));
  start();
  fs::rename(clone_ + "/old.cpp", clone_ + "/runtime/cli/run.cpp");
  start();
  EXPECT_THAT(calls(), HasSubstr("--build"));
}

TEST_F(StartScript, NoticesAFileThatIsGone) {
  start();
  fs::remove(clone_ + "/runtime/cli/run.cpp");
  start();
  EXPECT_THAT(calls(), HasSubstr("--build"));
}

TEST_F(StartScript, StartsAnewInAnotherPlace) {
  start();
  fs::rename(clone_, folder_ / "moved");
  clone_ = folder_ / "moved";
  const Answer answer = start();
  EXPECT_THAT(answer.err, HasSubstr("made for another place"));
  EXPECT_EQ(answer.out, "command: \n");
  EXPECT_THAT(calls(), HasSubstr("-S " + clone_));
}

TEST_F(StartScript, ShowsTheEndOfTheLogWhenTheBuildFails) {
  folder_.write("broken", "");
  const Answer answer = start();
  EXPECT_EQ(answer.status, 2);
  EXPECT_THAT(answer.err, AllOf(HasSubstr("something is wrong with line 3"), HasSubstr("build.log")));
  fs::remove(folder_ / "broken");
  EXPECT_EQ(start().out, "command: \n") << "a failed build is no reason not to try again";
}

TEST_F(StartScript, GoesOnWhenAPuzzleDoesNotBuild) {
  folder_.write("puzzles.log",
                "FAILED: CMakeFiles/grader_01_a.dir/puzzles/01_a/grader.cpp.o\n"
                "c++ -c grader.cpp\n"
                "../puzzles/01_a/grader.cpp:3:1: error: what is this?\n");
  const Answer answer = start({"run", "02"});
  EXPECT_EQ(answer.status, 7);
  EXPECT_EQ(answer.out, "command: run 02\n");
  EXPECT_THAT(answer.err, AllOf(HasSubstr("Some puzzles do not build"), HasSubstr("build.log")));
  EXPECT_THAT(calls(), AllOf(HasSubstr("--target learner -- -k 0"), HasSubstr("--target command")));
  EXPECT_THAT(folder_.read("a clone/build/build.log"), HasSubstr("grader.cpp:3:1: error: what is this?"));
  start();
  EXPECT_THAT(calls(), IsEmpty()) << "the same source would fail again";
  folder_.write("a clone/puzzles/01_a/grader.cpp", "mended");
  start();
  EXPECT_THAT(calls(), HasSubstr("--build"));
}

TEST_F(StartScript, TriesAgainWhatFailedForAnotherReasonThanTheSource) {
  folder_.write("puzzles.log",
                "FAILED: CMakeFiles/grader_01_a.dir/puzzles/01_a/grader.cpp.o\n"
                "../puzzles/01_a/grader.cpp:3:1: error: what is this?\n"
                "FAILED: CMakeFiles/grader_02_b.dir/puzzles/02_b/grader.cpp.o\n"
                "c++: fatal error: Killed signal terminated program cc1plus\n");
  EXPECT_EQ(start().out, "command: \n");
  start();
  EXPECT_THAT(calls(), HasSubstr("--build"));
}

TEST_F(StartScript, MakesWarningsErrorsForDevelopersOnly) {
  script("doxygen", "#!/bin/bash\n");
  start();
  EXPECT_THAT(calls(), Not(HasSubstr("WERROR")));
  start({}, {"SHARDLINGS_DEVELOPER=1"});
  EXPECT_THAT(calls(), HasSubstr("-DSHARDLINGS_WERROR=ON"));
  start({}, {"SHARDLINGS_DEVELOPER=1"});
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(StartScript, WantsWhatOnlyDevelopersNeedForThemOnly) {
  EXPECT_THAT(start().err, Not(HasSubstr("doxygen")));
  EXPECT_THAT(start({}, {"SHARDLINGS_DEVELOPER=1"}).err, HasSubstr("doxygen"));
}

TEST_F(StartScript, WorksThroughASymbolicLink) {
  fs::create_symlink(clone_ + "/shardlings", folder_ / "link");
  const Answer answer = answer_of(folder_.path(), {folder_ / "link"},
                                  {"PATH=" + (folder_ / "tools"), "CALLS=/dev/null", "BROKEN=/none", "PUZZLES=/none"});
  EXPECT_EQ(answer.out, "command: \n") << answer.err;
}

TEST_F(StartScript, InstallsWhatIsMissingOrSaysWhichLineDoes) {
  fs::remove(folder_ / "tools/g++");
  const Answer answer = start();
  if (geteuid() == 0) {
    EXPECT_THAT(answer.err, AllOf(HasSubstr("Installing what is missing"), HasSubstr("g++")));
    EXPECT_THAT(calls(), AllOf(HasSubstr("update"), HasSubstr("install -y --no-install-recommends g++ mold")));
  } else {
    EXPECT_EQ(answer.status, 2);
    EXPECT_THAT(answer.err, HasSubstr("sudo apt-get update && sudo apt-get install -y --no-install-recommends g++"));
  }
}

TEST_F(StartScript, SaysWhyNothingCouldBeInstalled) {
  if (geteuid() != 0)
    GTEST_SKIP() << "needs root, for whom alone the start script installs without asking: run it in a container";
  fs::remove(folder_ / "tools/g++");
  folder_.write("broken", "");
  const Answer answer = start();
  EXPECT_EQ(answer.status, 2);
  EXPECT_THAT(answer.err, AllOf(HasSubstr("apt-get failed"), HasSubstr("no network")));
}

TEST_F(StartScript, NamesThePackagesWhereThereIsNoAptGet) {
  fs::remove(folder_ / "tools/g++");
  fs::remove(folder_ / "tools/apt-get");
  const Answer answer = start();
  EXPECT_EQ(answer.status, 2);
  EXPECT_THAT(answer.err, AllOf(HasSubstr("g++"), HasSubstr("no apt-get"), Not(HasSubstr("ninja-build"))));
}

}  // namespace
}  // namespace shardlings::cli

// The command on machines that are let down, with arguments that nobody means, and files that cannot be compiled.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/sanitizers.h"
#include "cli/learner.h"
#include "support/refusals.h"

namespace shardlings::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(MachineFault, CostsNeitherPointsNorAnAttempt) {
  if (kThreadSanitizer) GTEST_SKIP() << "the sanitizer has a thread of its own";
  const Learner shardlings;
  const std::string xml = shardlings.folder() / "r.xml", points = shardlings.folder() / "r.json";
  ASSERT_EQ(shardlings({"run", "09"}).status, 1) << "the stub";
  shardlings.solve("09_data_parallel");
  const std::string before = shardlings.folder().read(".shardlings/progress.json");
  const auto kept = [&] { return shardlings.folder().read("build/runs/09_data_parallel/last/verdict.json"); };
  const std::string run_before = kept();
  const Answer text = shardlings.when(support::refuse_threads,
                                      {"run", "09", "--export", "junit=" + xml, "--export", "gradescope=" + points});
  if (text.status == kNotSet) GTEST_SKIP() << "this system allows no filter of system calls";
  EXPECT_EQ(text.status, 3);
  EXPECT_THAT(text.out, AllOf(HasSubstr("not judged"), HasSubstr("ulimit -u"), HasSubstr("no fault of the solution")));
  EXPECT_THAT(text.out, Not(HasSubstr("Stuck?")));
  EXPECT_EQ(shardlings.folder().read(".shardlings/progress.json"), before) << "nothing is noted";
  EXPECT_EQ(kept(), run_before) << "the last run is still that of the stub";
  EXPECT_THAT(shardlings.folder().read("r.xml"), AllOf(HasSubstr("<error"), Not(HasSubstr("<failure"))));
  EXPECT_FALSE(json::parse(shardlings.folder().read("r.json")).contains("score"));
  const json verdict = json::parse(shardlings.when(support::refuse_threads, {"run", "09", "--json"}).out);
  EXPECT_EQ(verdict["status"], "not_judged");
  EXPECT_TRUE(verdict["points"].is_null());
  EXPECT_EQ(shardlings.when(support::refuse_threads, {"check", "09_data_parallel", "output"}).status, 3);
  EXPECT_EQ(shardlings({"run", "09"}).status, 0) << "the next time all is well";
}

TEST(MachineFault, LittleMemoryForJailsIsNoWantOfRights) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "a sanitizer reserves more than any limit";
  const Learner shardlings;
  shardlings.solve(kFirst);
  for (const int mebibytes : {60, 200, 300}) {
    fs::remove_all(shardlings.folder() / "build/graded");
    const Answer answer =
        shardlings.when([=] { return support::allow_address_space(mebibytes); }, {"run", "01", "--jail"});
    EXPECT_THAT(answer.status, testing::AnyOf(0, 3)) << mebibytes << answer.out << answer.err;
    EXPECT_THAT(answer.out + answer.err, Not(HasSubstr("not permitted"))) << mebibytes;
  }
}

TEST(MachineFault, ACompilerWithoutItsPartsTakesNoPoints) {
  const Learner shardlings;
  shardlings.solve(kFirst);
  const Answer answer = shardlings.when([] { return setenv("PATH", "/nonexistent", 1) == 0; }, {"run", "01"});
  EXPECT_THAT(answer.status, testing::AnyOf(0, 3)) << answer.out << answer.err;  // some know where their parts are
  EXPECT_THAT(answer.out, Not(HasSubstr("does not compile")));
}

TEST(MachineFault, TooFewDescriptorsAreNobodysFault) {
  const Learner shardlings;
  shardlings.solve(kFirst);
  for (const int most : {4, 6, 9, 13, 20}) {
    fs::remove_all(shardlings.folder() / "build/graded");
    const Answer answer = shardlings.when([most] { return support::allow_files(most); }, {"run", "01"});
    EXPECT_THAT(answer.status, testing::AnyOf(0, 3, 127)) << most << answer.out << answer.err;
    if (answer.status != 3) continue;
    EXPECT_THAT(answer.out + answer.err, HasSubstr("ulimit -n"));
  }
}

bool into_a_full_device() {
  return dup2(open("/dev/full", O_WRONLY | O_CLOEXEC), STDOUT_FILENO) == STDOUT_FILENO;
}

TEST(MachineFault, AnswerThatCannotBeWrittenIsNone) {
  const Learner shardlings;
  shardlings.solve(kFirst);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"run", "01"}, {"run", "01", "--json"}, {"list"}, {"--help"}, {"--version"}}) {
    const Answer answer = shardlings.when(into_a_full_device, arguments);
    EXPECT_EQ(answer.status, 3) << arguments[0];
    EXPECT_THAT(answer.err, HasSubstr("The answer could not be written: No space left on device"));
  }
}

TEST(MachineFault, RunThatCannotBeKeptIsJudged) {
  const Learner shardlings;
  shardlings.solve(kFirst);
  shardlings.folder().write("build/runs", "a file where a folder should be");
  const Answer answer = shardlings({"run", "01"});
  EXPECT_EQ(answer.status, 0) << answer.out;
  EXPECT_THAT(answer.out, HasSubstr("is solved"));
  EXPECT_THAT(answer.err, HasSubstr("could not be kept for ./shardlings view"));
}

TEST(MachineFault, DiskThatIsFullWhereRunsAreKeptLeavesTheVerdict) {
  const Learner shardlings;
  shardlings.solve(kFirst);
  const std::string runs = shardlings.folder() / "build/runs";
  fs::create_directories(runs);
  const Answer answer = shardlings.when([&] { return support::fill_up(runs); }, {"run", "01"});
  if (answer.status == kNotSet) GTEST_SKIP() << "only root may mount a small file system to fill";
  EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.err, HasSubstr("could not be kept for ./shardlings view"));
}

TEST(MachineFault, DiskThatIsFullWhereGradingWorksIsNamed) {
  const Learner shardlings;
  shardlings.solve(kFirst);
  const std::string graded = shardlings.folder() / "build/graded";
  fs::create_directories(graded);
  const Answer answer = shardlings.when([&] { return support::fill_up(graded); }, {"run", "01"});
  if (answer.status == kNotSet) GTEST_SKIP() << "only root may mount a small file system to fill";
  EXPECT_EQ(answer.status, 3) << answer.out << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("The disk is full"));
}

TEST(MachineFault, MakesVerificationNeitherPassNorFail) {
  if (kThreadSanitizer) GTEST_SKIP() << "the sanitizer has a thread of its own";
  const Learner shardlings;
  shardlings.folder().write("solutions/09_data_parallel/mutants.txt", "");
  const Answer answer = shardlings.when(support::refuse_threads, {"verify", "09", "-j", "1"});
  if (answer.status == kNotSet) GTEST_SKIP() << "this system allows no filter of system calls";
  EXPECT_EQ(answer.status, 3);
  EXPECT_THAT(answer.out, HasSubstr("the solution does not pass: not judged: "));
}

TEST(Arguments, FilesOfUnusualNames) {
  const Learner shardlings;
  const std::string wrong = shardlings.folder().read("puzzles/01_training_step/puzzle.cpp");
  const std::string right = shardlings.folder().read("solutions/01_training_step/solution.cpp");
  for (const std::string name : {"a b.cpp", "-E.cpp", "it's.cpp"}) {
    shardlings.folder().write(name, right);
    const Answer answer = shardlings({"run", "01", "--file", name});
    EXPECT_EQ(answer.status, 0) << name << answer.out << answer.err;
  }
  shardlings.folder().write("it's.cpp", wrong);
  const json verdict = json::parse(shardlings({"run", "01", "--file", "it's.cpp", "--json"}).out);
  EXPECT_THAT(verdict["cases"][0]["reproduce"], HasSubstr(R"(--file 'it'\''s.cpp')")) << "as a shell reads it";
}

TEST(Arguments, ThatNobodyMeansAreRefused) {
  const Learner shardlings;
  shardlings.solve(kFirst);
  for (const auto& [arguments, why] :
       {std::pair{std::vector<std::string>{"--file", ""}, "--file: needs a value that is not empty"},
        {{"--case", ""}, "--case: needs a value that is not empty"},
        {{"--seed", "-1"}, "--seed: needs a whole number from 0 to 2^64 - 1, not -1"},
        {{"--seed", "18446744073709551616"}, "--seed: needs a whole number"},
        {{"--seed", "1e3"}, "--seed: needs a whole number"},
        {{"--seed", ""}, "--seed"}}) {
    std::vector<std::string> all{"run", "01"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Answer answer = shardlings(all);
    EXPECT_EQ(answer.status, 2) << why << answer.out;
    EXPECT_THAT(answer.err, HasSubstr(why));
  }
  EXPECT_FALSE(fs::exists(shardlings.folder() / ".shardlings/progress.json")) << "none of them was the learner's run";
  EXPECT_EQ(shardlings({"run", "01", "--seed", "18446744073709551615"}).status, 0);
}

TEST(Arguments, ThatAreTooManyAreNamed) {
  const Learner shardlings;
  for (const auto& [arguments, why] :
       {std::pair{std::vector<std::string>{"run", "01", "--export", "junit=r.xml", "b"},
                  "--export takes one value: b is one too many."},
        {{"run", "--export", "a", "b"}, "--export a: write one of autolab, classroom50, gradescope"},
        {{"run", "01", "--seed", "1", "2"}, "--seed takes one value: 2 is one too many."},
        {{"run", "01", "--seed", "1", "--seed", "2"}, "--seed is there 2 times, and takes one value."},
        {{"run", "01", "02"}, "run has no argument 02."},
        {{"run", "01", "--seed"}, "--seed needs a value."},
        {{"run", "01", "--json=yes"}, "--json takes no value: write --json alone."}}) {
    const Answer answer = shardlings(arguments);
    EXPECT_EQ(answer.status, 2) << why << answer.out;
    EXPECT_THAT(answer.err, HasSubstr(why));
  }
}

TEST(Arguments, FilesThatCannotBeReadAreNamed) {
  const Learner shardlings;
  fs::create_symlink("loop.cpp", shardlings.folder() / "loop.cpp");
  fs::create_directory(shardlings.folder() / "folder.cpp");
  for (const auto& [file, why] : {std::pair{"loop.cpp", "It is a symbolic link that leads to itself."},
                                  {"folder.cpp", "folder.cpp is a folder, not a file: give the file with your program"},
                                  {"gone.cpp", "There is no file gone.cpp."}}) {
    const Answer answer = shardlings({"run", "01", "--file", file});
    EXPECT_EQ(answer.status, 2) << why << answer.out;
    EXPECT_THAT(answer.err, HasSubstr(why));
    EXPECT_THAT(answer.err, Not(HasSubstr("filesystem error")));
  }
}

TEST(MachineFault, FolderThatResultsCannotGoToIsNamed) {
  const Learner shardlings;
  shardlings.solve(kFirst);
  const Answer nowhere = shardlings({"run", "01", "--export", "junit=nowhere/r.xml"});
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("cannot write nowhere/r.xml: there is no folder nowhere."));
  shardlings.folder().write("build/graded", "a file where a folder should be");
  const Answer answer = shardlings({"run", "01"});
  EXPECT_EQ(answer.status, 3) << answer.out;
  EXPECT_THAT(answer.out, HasSubstr("gradings are kept in"));
  EXPECT_THAT(answer.out, Not(HasSubstr("filesystem error")));
}

// The compiler names them as it was given them.
TEST(Compiler, NamesThePublicHeadersFromTheProject) {
  const Learner shardlings;
  shardlings.folder().write(
      Learner::file_of(kFirst),
      "#include <shardlings/puzzle.h>\n\nshardlings::Tensor twice(const shardlings::Tensor& t) {\n"
      "  return t;\n}\n");
  const Answer answer = shardlings({"run", "01"});
  EXPECT_EQ(answer.status, 1);
  EXPECT_THAT(answer.out,
              AllOf(HasSubstr("runtime/include/shardlings/tensor.h:"), Not(HasSubstr(SHARDLINGS_SOURCE "/"))));
}

TEST(Damage, IsNamedWithItsPath) {
  const Learner shardlings;
  shardlings.folder().write("puzzles/01_training_step/goal.json", "{\"format\":");
  const Answer lesson = shardlings({"explain", "01"});
  EXPECT_EQ(lesson.status, 0);
  EXPECT_THAT(lesson.err, HasSubstr("puzzles/01_training_step/goal.json: "));
  shardlings.solve(kFirst);
  ASSERT_EQ(shardlings({"run", "01"}).status, 0);
  shardlings.folder().write("build/runs/01_training_step/last/verdict.json", "{");
  const Answer view = shardlings({"view", "01"});
  EXPECT_EQ(view.status, 2);
  EXPECT_THAT(view.err, AllOf(HasSubstr("01_training_step/last/verdict.json is damaged"), HasSubstr("run the puzzle")));
}

}  // namespace
}  // namespace shardlings::cli

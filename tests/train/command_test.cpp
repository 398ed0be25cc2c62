// ./shardlings train as a program: what it prints, how it ends, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"
#include "base/sanitizers.h"
#include "cli/app.h"
#include "support/mutants.h"
#include "support/refusals.h"
#include "support/waits.h"
#include "train/command.h"

namespace shardlings::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(TrainCommand, TrainsSavesAndGoesOn) {
  const Folder folder;
  const Outcome first = run(folder, {"--tp", "2", "--pp", "2", "--dp", "2", "--steps", "3", "--json"});
  ASSERT_EQ(first.status, 0) << first.out << first.err;
  const auto json = nlohmann::json::parse(first.out);
  EXPECT_EQ(json["end"], "finished");
  EXPECT_EQ(json["losses"].size(), 3U);
  EXPECT_EQ(json["layout"]["pp"], 2);
  EXPECT_GT(json["memory"]["peak"], 0);
  EXPECT_GT(json["tokens_per_second"], 0);
  const Outcome more = run(folder, {"--steps", "5"});
  ASSERT_EQ(more.status, 0) << more.out << more.err;
  EXPECT_THAT(more.out, HasSubstr("1 rank: tp 1 x pp 1 x dp 1"));
  EXPECT_THAT(more.out, HasSubstr("after step 3"));
  EXPECT_THAT(more.out, HasSubstr("at step 5"));
  EXPECT_THAT(more.out, HasSubstr("memory"));
  EXPECT_THAT(more.out, HasSubstr("--steps 10"));
  EXPECT_THAT(run(folder, {"--steps", "5"}).out, HasSubstr("No step was left to make"));
}

TEST(TrainCommand, RefusesWhatCannotBeDivided) {
  const Folder folder;
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = run(folder, arguments);
    EXPECT_EQ(outcome.status, 2);
    return outcome.err + outcome.out;
  };
  EXPECT_THAT(refused({"--tp", "1024", "--pp", "1024", "--dp", "4096"}),
              HasSubstr("--tp 1024 times --pp 1024 times --dp 4096 are more than 16384 ranks"));
  EXPECT_THAT(refused({"--tp", "5"}), HasSubstr("4 heads cannot be divided over --tp 5"));
  EXPECT_THAT(refused({"--pp", "5"}), HasSubstr("--layers 3"));
  EXPECT_THAT(refused({"--vp", "2"}), HasSubstr("--pp 1 is no pipeline. Give it more ranks: --pp 2"));
  EXPECT_THAT(refused({"--pp", "2", "--vp", "3"}), HasSubstr("into 6 stages. Give it more blocks: --layers 4"));
  EXPECT_THAT(refused({"--pp", "2", "--vp", "2", "--micro-batches", "1"}),
              HasSubstr("a multiple of --pp 2, which 1 is"));
  EXPECT_THAT(refused({"--pp", "2", "--vp", "2", "--dp", "4"}),
              HasSubstr("the 1 sequences of a replica cannot be cut"));
  EXPECT_THAT(refused({"--dp", "3"}), HasSubstr("cannot be dealt out"));
  EXPECT_THAT(refused({"--micro-batches", "3"}), HasSubstr("3 micro-batches"));
  EXPECT_THAT(refused({"--zero", "3"}), HasSubstr("--zero 1"));
  EXPECT_THAT(refused({"--cluster", "moon"}), HasSubstr("moon"));
  EXPECT_THAT(refused({"--text", "/no/such/text"}), HasSubstr("cannot read the text"));
  EXPECT_THAT(refused({"--cluster", "moon"}), HasSubstr("moon"));
  EXPECT_THAT(refused({"--heads", "3"}), HasSubstr("cannot be divided into 3 heads"));
}

TEST(TrainCommand, DealsChunksToTheRanksOfAPipeline) {
  const Folder folder;
  const Outcome chunks = run(folder, {"--pp", "2", "--vp", "2", "--steps", "1", "--json"});
  ASSERT_EQ(chunks.status, 0) << chunks.out << chunks.err;
  const auto layout = nlohmann::json::parse(chunks.out)["layout"];
  EXPECT_EQ(layout["vp"], 2);
  EXPECT_EQ(layout["micro_batches"], 4) << "of four sequences";
  const Outcome more = run(folder, {"--pp", "2", "--vp", "2", "--dp", "2", "--steps", "2"});
  ASSERT_EQ(more.status, 0) << more.out << more.err;
  EXPECT_THAT(more.out, HasSubstr("tp 1 x pp 2 x dp 2, 2 chunks on each, 2 micro-batches of 1 sequence"));
}

TEST(TrainCommand, RefusesTheCheckpointOfAnotherModel) {
  const Folder folder;
  ASSERT_EQ(run(folder, {"--steps", "1"}).status, 0);
  const Outcome other = run(folder, {"--steps", "1", "--heads", "2"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.out, HasSubstr("is that of another model: heads 4 instead of 2"));
  EXPECT_THAT(other.out, HasSubstr("--fresh"));
  EXPECT_EQ(run(folder, {"--steps", "1", "--heads", "2", "--fresh"}).status, 0);
}

constexpr const char* kPuzzle = "33_three_d_parallel";

TEST(TrainCommand, TrainsWithTheLearnersStep) {
  const Folder folder;
  const Learner learner(kPuzzle, read_file(std::string(kSource) + "/solutions/" + kPuzzle + "/solution.cpp").value());
  const Outcome outcome = run(folder, {"--mine", "--dp", "2", "--steps", "2"});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("at step 2"));
  learner.append("int wrong = ;\n");
  const Outcome broken = run(folder, {"--mine"});
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.err, HasSubstr("puzzle.cpp:"));
}

TEST(TrainCommand, SaysWhereTheLearnersStepHasFailed) {
  const Folder folder;
  const Learner learner(kPuzzle, support::text_of_mutant(std::string(kSource) + "/solutions", kPuzzle, "same_warm_up"));
  const Outcome outcome = run(folder, {"--mine", "--pp", "2", "--steps", "2"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr("deadlock"));
  EXPECT_THAT(outcome.out, HasSubstr("puzzle.cpp:"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("checkpoint")));
}

TEST(TrainCommand, LeavesTheCheckpointWhenItDiverges) {
  const Folder folder;
  ASSERT_EQ(run(folder, {"--steps", "1"}).status, 0);
  const Outcome outcome = run(folder, {"--steps", "9", "--lr", "1e30", "--clip", "1e30"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr("diverged"));
  EXPECT_THAT(run(folder, {"--steps", "1"}).out, HasSubstr("No step was left to make"));
}

constexpr int kNotSet = 125;

/// Starts the program with its output in a file, on a machine that may be let down.
pid_t start(
    const std::vector<std::string>& arguments, const std::string& output,
    const std::function<bool()>& let_down = [] { return true; }) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (!let_down()) _exit(kNotSet);
  std::freopen(output.c_str(), "w", stdout);
  std::vector<char*> pointers = {const_cast<char*>(kProgram)};
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  execv(kProgram, pointers.data());
  _exit(127);
}

TEST(TrainCommand, SavesWhenItIsInterrupted) {
  const Folder folder;
  const pid_t child = start(arguments_of(folder, {"--steps", "1000000", "--save-every", "1"}), folder.file("out"));
  while (!std::filesystem::exists(folder.file("checkpoint")) && waitpid(child, nullptr, WNOHANG) == 0) usleep(10'000);
  kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  std::ifstream file(folder.file("out"));
  const std::string out(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(out, HasSubstr("The same command goes on from there"));
}

/// The status of a process that ends, and what it wrote.
Outcome outcome_of(pid_t child, const Folder& folder) {
  int status = 0;
  waitpid(child, &status, 0);
  std::ifstream file(folder.file("out"));
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, std::string(std::istreambuf_iterator<char>(file), {}), ""};
}

// OpenBLAS would ask for its workspace again and again.
TEST(TrainCommand, EndsWhereTheMachineHasNoMemory) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "a sanitizer reserves more than any limit";
  const Folder folder;
  for (const int mebibytes : {100, 200, 300, 450}) {
    const pid_t child = start(arguments_of(folder, {"--tp", "2", "--dp", "2", "--steps", "2"}), folder.file("out"),
                              [&] { return support::allow_address_space(mebibytes); });
    const Outcome outcome = outcome_of(child, folder);
    EXPECT_THAT(outcome.status, testing::AnyOf(3, 127)) << mebibytes << outcome.out;
    EXPECT_THAT(outcome.out, Not(HasSubstr("--fresh"))) << "no checkpoint is at fault";
  }
  const pid_t child = start(arguments_of(folder, {"--tp", "2", "--dp", "2", "--steps", "2"}), folder.file("out"),
                            [] { return support::allow_address_space(600); });
  const Outcome outcome = outcome_of(child, folder);
  EXPECT_EQ(outcome.status, 3) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("128 MiB for each rank that multiplies"));
}

TEST(TrainCommand, SaysThatTheMachineGivesNoThreads) {
  if (kThreadSanitizer) GTEST_SKIP() << "the sanitizer has a thread of its own";
  const Folder folder;
  const pid_t child =
      start(arguments_of(folder, {"--dp", "2", "--steps", "1"}), folder.file("out"), support::refuse_threads);
  const Outcome outcome = outcome_of(child, folder);
  if (outcome.status == kNotSet) GTEST_SKIP() << "this system allows no filter of system calls";
  EXPECT_EQ(outcome.status, 3) << outcome.out;
}

TEST(TrainCommand, NamesACheckpointThatIsDamaged) {
  const Folder folder;
  ASSERT_EQ(run(folder, {"--steps", "1"}).status, 0);
  std::filesystem::resize_file(folder.file("checkpoint"), std::filesystem::file_size(folder.file("checkpoint")) - 1);
  const Outcome outcome = run(folder, {"--steps", "2"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(folder.file("checkpoint") + " is damaged"), HasSubstr("--fresh")));
}

TEST(TrainCommand, AdvisesOnWhatIsWrong) {
  const Folder folder;
  std::ofstream(folder.file("text")) << "too short";
  const Outcome outcome = run(folder, {"--steps", "1", "--text", folder.file("text")});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("is shorter than a sequence"), Not(HasSubstr("--fresh"))));
}

/// The solution with this at the beginning of the step.
std::string solution_with(const std::string& line) {
  std::string text =
      "#include <cstdio>\n" + read_file(std::string(kSource) + "/solutions/" + kPuzzle + "/solution.cpp").value();
  const auto hole = text.find("// >>>");
  return text.insert(text.find('\n', hole) + 1, line + "\n");
}

TEST(TrainCommand, ExplainsACrashOfTheLearnersStep) {
  const Folder folder;
  const Learner learner(kPuzzle, solution_with("if (rank.id() == 1) *reinterpret_cast<volatile int*>(rank.id()) = 1;"));
  const Outcome outcome = run(folder, {"--mine", "--dp", "2", "--steps", "2"});
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("rank 1 crashed at puzzle.cpp:"), HasSubstr("a segmentation fault"),
                                 HasSubstr("The address was 0x1"), HasSubstr("At that moment:")));
}

TEST(TrainCommand, WhatTheLearnersStepPrintsIsShownAndNeverBelieved) {
  const Folder folder;
  const Learner learner(
      kPuzzle,
      solution_with(
          R"(std::fputs("{\"end\": \"finished\", \"message\": 7}\n{\"step\": \"x\"}\n\x1b[2Jno end", stdout);)"));
  const Outcome outcome = run(folder, {"--mine", "--steps", "2"});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(R"({"end": "finished", "message": 7})"), HasSubstr("\\x1b[2Jno end"),
                                 Not(HasSubstr("\x1b[2J")), HasSubstr("at step 2")));
}

TEST(TrainCommand, EndsAStepThatPrintsWithoutEnd) {
  const Folder folder;
  for (const char* loop : {"for (volatile bool on = true; on;) std::puts(\"again and again\");",
                           "for (volatile bool on = true; on;) std::putchar('.');"}) {
    const Learner learner(kPuzzle, solution_with(loop));
    const Outcome outcome = run(folder, {"--mine", "--steps", "2"});
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("wrote more than 64 MiB of output and was stopped"));
    EXPECT_LT(outcome.out.size(), 100'000U) << "the beginning shows what it was";
  }
}

TEST(TrainCommand, OneSignalEndsAStepThatDoesNotEnd) {
  const Folder folder;
  const Learner learner(kPuzzle, solution_with("for (volatile bool on = true; on;) {\n}"));
  const pid_t child = start(arguments_of(folder, {"--mine", "--steps", "2"}), folder.file("out"));
  const std::string running = SHARDLINGS_BUILD_FOLDER "/train/running/" + std::to_string(child) + "/settings.json";
  // Before that, nothing is watched yet.
  ASSERT_TRUE(support::comes_true([&] { return std::filesystem::exists(running); }));
  sleep(1);
  kill(child, SIGTERM);
  EXPECT_EQ(outcome_of(child, folder).status, 128 + SIGTERM);
}

}  // namespace
}  // namespace shardlings::train

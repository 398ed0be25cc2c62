// Processes of a run over MPI that are killed or stopped, and hosts that are cut off: the run ends, says whose process
// it was, and leaves nothing behind. Limits here are for a test that hangs; how long an end takes is not judged.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <random>
#include <thread>

#include "cli/error.h"
#include "cli/learner.h"
#include "cluster/crew_processes.h"
#include "cluster/mpi_here.h"
#include "cluster/trainable.h"

namespace shardlings::cluster {
namespace {

using namespace std::chrono_literals;
using cli::Answer;
using testing::AllOf;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr auto kLimit = 120s;
constexpr int kProcesses = 4;

/// Seconds of work, with an operation of all ranks every now and then.
constexpr const char* kLongStep = R"(#include <shardlings/puzzle.h>
using namespace shardlings;
void train_step(Rank& rank, const Model&, TrainState&, const Batch&, View) {
  for (int i = 0; i < 15000; ++i) {
    for (volatile int k = 0; k < 200000; k = k + 1) {
    }
    rank.world().barrier();
  }
}
)";

bool comes_true(const std::function<bool()>& condition) {
  const auto end = Clock::now() + kLimit;
  while (!condition() && Clock::now() < end) std::this_thread::sleep_for(1ms);
  return condition();
}

constexpr const char* kGrading = "run 09 --file long.cpp --case '4 ranks'";
constexpr const char* kTraining =
    "train --dp 4 --steps 100000 --layers 2 --hidden 16 --heads 2 --sequence 16 --batch 8 "
    "--checkpoint checkpoint";

/// A run of a step that takes long, in a folder of its own, by whose name its processes are known.
class LongRun {
 public:
  /// `through`: a program that runs the command, with a file of hosts in the variable TWO_HOSTS.
  explicit LongRun(std::vector<std::string> through = {}, const std::string& verb = kGrading) {
    shardlings_.folder().write("long.cpp", kLongStep);
    make_trainable(shardlings_);
    std::string words = fmt::format("exec '{}' {} --json --backend mpi -n {}", cli::command_path(), verb, kProcesses);
    if (!through.empty()) words += " --hostfile \"$TWO_HOSTS\"";
    through.insert(through.end(), {"/bin/sh", "-c", words});
    std::vector<std::string> environment = shardlings_.environment();
    environment.push_back("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    for (const char* name : {"HOME", "TMPDIR", "SHARDLINGS_MPIRUN"}) {
      if (const char* value = std::getenv(name)) environment.push_back(fmt::format("{}={}", name, value));
    }
    answer_ = std::async(std::launch::async, [this, through, environment] {
      return cli::answer_of(shardlings_.folder().path(), through, environment);
    });
  }
  /// Of a process that has begun; it may be gone by the time that one looks at it.
  std::vector<CrewProcess> processes() const { return crew_processes(mark()); }
  bool has_begun(std::size_t processes = kProcesses) const {
    return comes_true([&] { return this->processes().size() >= processes || has_ended(); }) && !has_ended();
  }
  bool has_ended() const { return answer_.wait_for(0s) == std::future_status::ready; }
  /// Status kNotSet if there is none within the limit.
  Answer answer() {
    if (answer_.wait_for(kLimit) == std::future_status::ready) return answer_.get();
    for (const pid_t pid : processes_with(mark())) kill(pid, SIGKILL);
    answer_.wait();
    return {cli::kNotSet, "", "the run did not end"};
  }
  std::vector<pid_t> processes_of_program(const std::string& program) const { return processes_of(program, mark()); }
  bool nothing_is_left() const {
    return comes_true([&] { return processes_with(mark()).empty(); });
  }

 private:
  std::string mark() const { return "SHARDLINGS_ROOT=" + shardlings_.folder().path(); }

  cli::Learner shardlings_;
  std::future<Answer> answer_;
};

std::string all_of(const Answer& answer) {
  return answer.out + answer.err;
}

class Deaths : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = mpi_missing(); !missing.empty()) GTEST_SKIP() << missing;
  }
};

/// Thirty kills, in three tests.
class Kills : public Deaths, public testing::WithParamInterface<unsigned> {};

TEST_P(Kills, AreBoundedAndNamed) {
  constexpr int kKills = 10;
  constexpr int kLongestMilliseconds = 1200;
  std::mt19937 random(GetParam());
  for (int turn = 0; turn < kKills; ++turn) {
    LongRun run;
    ASSERT_TRUE(run.has_begun()) << all_of(run.answer());
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % kLongestMilliseconds));
    const auto processes = run.processes();
    ASSERT_EQ(processes.size(), static_cast<std::size_t>(kProcesses)) << all_of(run.answer());
    const CrewProcess victim = processes[random() % processes.size()];
    ASSERT_EQ(kill(victim.pid, SIGKILL), 0);
    const Answer answer = run.answer();
    EXPECT_EQ(answer.status, cli::kNotJudged) << all_of(answer);
    EXPECT_THAT(all_of(answer), AllOf(HasSubstr(fmt::format("process {}", victim.number)),
                                      HasSubstr(fmt::format("with rank {}", victim.number)), HasSubstr("has died"),
                                      HasSubstr(fmt::format("rank {} ", victim.number))))
        << "turn " << turn;
    EXPECT_TRUE(run.nothing_is_left()) << "turn " << turn;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Kills, testing::Values(1U, 2U, 3U));

TEST_F(Deaths, AProcessThatIsStoppedIsNamed) {
  LongRun run;
  ASSERT_TRUE(run.has_begun()) << all_of(run.answer());
  std::this_thread::sleep_for(500ms);
  for (const CrewProcess& process : run.processes()) {
    if (process.number == 2) kill(process.pid, SIGSTOP);
  }
  const Answer answer = run.answer();
  EXPECT_EQ(answer.status, cli::kNotJudged) << all_of(answer);
  EXPECT_THAT(all_of(answer),
              AllOf(HasSubstr("process 2"), HasSubstr("has not been heard of"), HasSubstr("with rank 2")));
  EXPECT_TRUE(run.nothing_is_left());
}

TEST_F(Deaths, ATrainingEndsAndNamesTheProcessToo) {
  LongRun run({}, kTraining);
  ASSERT_TRUE(run.has_begun()) << all_of(run.answer());
  std::this_thread::sleep_for(1s);
  for (const CrewProcess& process : run.processes()) {
    if (process.number == 3) kill(process.pid, SIGKILL);
  }
  const Answer answer = run.answer();
  EXPECT_EQ(answer.status, cli::kNotJudged) << all_of(answer);
  EXPECT_THAT(all_of(answer), AllOf(HasSubstr("process 3"), HasSubstr("with rank 3"), HasSubstr("has died")));
  EXPECT_TRUE(run.nothing_is_left());
}

TEST_F(Deaths, NothingIsLeftOfACommandThatIsKilled) {
  LongRun run;
  ASSERT_TRUE(run.has_begun()) << all_of(run.answer());
  for (const pid_t pid : run.processes_of_program(cli::command_path())) kill(pid, SIGKILL);
  run.answer();
  EXPECT_TRUE(run.nothing_is_left());
}

// The cable between the two hosts is pulled out.
TEST_F(Deaths, AHostThatIsCutOffIsNamed) {
  LongRun run({SHARDLINGS_SOURCE "/tests/cluster/two_hosts"});
  if (!run.has_begun()) {
    const Answer answer = run.answer();
    if (answer.status == 77) GTEST_SKIP() << answer.err;
    FAIL() << all_of(answer);
  }
  std::this_thread::sleep_for(500ms);
  const auto commands = run.processes_of_program(cli::command_path());
  ASSERT_FALSE(commands.empty());
  const std::string cut = variable_of(commands.front(), "TWO_HOSTS_CUT");
  ASSERT_EQ(cli::answer_of("/", {cut}, {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}).status, 0);
  const Answer answer = run.answer();
  EXPECT_EQ(answer.status, cli::kNotJudged) << all_of(answer);
  EXPECT_THAT(all_of(answer), AllOf(HasSubstr("on host host-b"), HasSubstr("has not been heard of")));
  EXPECT_TRUE(run.nothing_is_left());
}

}  // namespace
}  // namespace shardlings::cluster

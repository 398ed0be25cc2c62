#include "grading/run/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "grading/judge/grader_options.h"

namespace shardlings::grading {
namespace {

run::ProcessOptions shell(const std::string& script) {
  run::ProcessOptions options;
  options.program = "/bin/sh";
  options.arguments = {"-c", script};
  options.environment = run::clean_environment("/");
  return options;
}

/// There, and no zombie that nobody has asked for yet.
bool is_running(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return static_cast<bool>(file >> number >> name >> state) && state != "Z";
}

TEST(Process, StatusAndOutputOfBothStreams) {
  const run::ProcessEnd end = run::run_process(shell("echo out; echo err >&2; exit 7"));
  EXPECT_TRUE(end.started && end.exited);
  EXPECT_EQ(end.status, 7);
  EXPECT_EQ(end.output, "out\nerr\n");
  EXPECT_FALSE(end.output_truncated);
}

TEST(Process, Signal) {
  const run::ProcessEnd end = run::run_process(shell("kill -SEGV $$"));
  EXPECT_FALSE(end.exited);
  EXPECT_EQ(end.signal, SIGSEGV);
  EXPECT_EQ(end.killed, run::Kill::none);
}

TEST(Process, NotStarted) {
  run::ProcessOptions options;
  options.program = "/no/such/program";
  const run::ProcessEnd end = run::run_process(options);
  EXPECT_FALSE(end.started);
  EXPECT_EQ(end.error, "No such file or directory");
}

TEST(Process, NothingIsInherited) {
  setenv("SHARDLINGS_SECRET", "42", 1);
  run::ProcessOptions options =
      shell("echo ${SHARDLINGS_SECRET-none} ${OPENBLAS_NUM_THREADS}; pwd; read line || echo empty");
  options.folder = "/usr";
  EXPECT_EQ(run::run_process(options).output, "none 1\n/usr\nempty\n");
  unsetenv("SHARDLINGS_SECRET");
}

TEST(Process, PassesOutputOnAsItComes) {
  run::ProcessOptions options = shell("echo one; echo two");
  std::string all;
  options.on_output = [&](std::string_view output) { all += output; };
  EXPECT_EQ(run::run_process(options).output, "one\ntwo\n");
  EXPECT_EQ(all, "one\ntwo\n");
}

TEST(GraderProgress, IsFoundAmongOtherOutput) {
  const std::string output = "[ RUN ]\n" + judge::progress_line(1, 3) + "3 9\n" + judge::progress_line(2, 3) + "end";
  std::vector<std::pair<int, int>> told;
  judge::ProgressReader reader([&](int done, int total) { told.emplace_back(done, total); });
  for (const char c : output) reader.read({&c, 1});  // in pieces, as pipes have it
  EXPECT_EQ(told, (std::vector<std::pair<int, int>>{{1, 3}, {2, 3}}));
  EXPECT_EQ(judge::without_progress(output), "[ RUN ]\n3 9\nend");
  EXPECT_EQ(judge::without_progress(""), "");
}

TEST(Process, SaysALine) {
  run::ProcessOptions options = shell("read line; echo got $line");
  options.has_input = true;
  run::Process process(options);
  process.say("ready\n");
  EXPECT_EQ(process.wait().output, "got ready\n");
}

TEST(Process, SpeakingToTheDeadIsHarmless) {
  run::ProcessOptions options = shell("exit 3");
  options.has_input = true;
  run::Process process(options);
  for (int i = 0; i < 100; ++i) process.say(std::string(1000, 'x'));
  EXPECT_EQ(process.wait().status, 3);
}

// What a process does on a signal is one for all of its threads: who changed it to write would disturb the others.
TEST(Process, ManyMaySpeakToTheDeadAtOnce) {
  std::vector<std::jthread> speakers;
  for (int i = 0; i < 2; ++i) {
    speakers.emplace_back([] {
      run::ProcessOptions options = shell("exit 3");
      options.has_input = true;
      run::Process process(options);
      EXPECT_EQ(process.wait().status, 3);
      for (int said = 0; said < 20'000; ++said) process.say("ready\n");
    });
  }
}

[[noreturn]] void run_with_ignored_children() {
  signal(SIGCHLD, SIG_IGN);
  try {
    run::run_process(shell("exit 3"));
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::_Exit(0);
  }
  std::_Exit(1);
}

TEST(ProcessDeathTest, AnEndThatNobodyCanTellIsAnError) {
  EXPECT_EXIT(run_with_ignored_children(), testing::ExitedWithCode(0),
              "/bin/sh has ended, and the system does not say");
}

TEST(Process, OutputIsKeptUpToALimit) {
  run::ProcessOptions options = shell("i=0; while [ $i -lt 2000 ]; do echo 0123456789; i=$((i+1)); done");
  options.kept_output = 100;
  const run::ProcessEnd end = run::run_process(options);
  EXPECT_TRUE(end.exited) << "it was drained to its end";
  EXPECT_EQ(end.output.size(), 100U);
  EXPECT_TRUE(end.output_truncated);
}

TEST(Process, FloodIsStopped) {
  run::ProcessOptions options = shell("while true; do echo 0123456789; done");
  options.limits.output_bytes = 100'000;
  EXPECT_EQ(run::run_process(options).killed, run::Kill::output_limit);
}

TEST(Process, WallLimitCountsSleepers) {
  run::ProcessOptions options = shell("sleep 1000");
  options.limits.wall_seconds = 0.2;
  EXPECT_EQ(run::run_process(options).killed, run::Kill::wall_limit);
}

TEST(Process, CpuLimit) {
  run::ProcessOptions options = shell("while true; do :; done");
  options.limits.cpu_seconds = 1;
  const run::ProcessEnd end = run::run_process(options);
  EXPECT_EQ(end.signal, SIGXCPU);
}

TEST(Process, ThatComputesWithoutProgressIsStopped) {
  run::ProcessOptions options = shell("while :; do :; done");
  options.limits.idle_cpu_seconds = 1;
  options.progress = [] { return std::uint64_t{7}; };
  const run::ProcessEnd stuck = run::run_process(options);
  EXPECT_FALSE(stuck.got_on);
  EXPECT_EQ(stuck.signal, SIGXCPU);

  std::uint64_t calls = 0;
  options.progress = [&calls] { return ++calls; };
  options.limits.cpu_seconds = 4;
  const run::ProcessEnd at_work = run::run_process(options);
  EXPECT_TRUE(at_work.got_on);
  EXPECT_GE(calls, 2U);
}

TEST(Process, ChildrenThatStayBehindAreKilled) {
  const run::ProcessEnd end = run::run_process(shell("sleep 1000 & echo $!; exit 0"));
  EXPECT_EQ(end.status, 0);
  const auto child = static_cast<pid_t>(std::atoi(end.output.c_str()));
  ASSERT_GT(child, 0);
  bool alive = true;
  for (int i = 0; i < 2000 && alive; ++i) {
    alive = is_running(child);
    if (alive) usleep(1000);
  }
  EXPECT_FALSE(alive);
}

TEST(Process, FileIsDescriptorThree) {
  const int file = memfd_create("test", MFD_CLOEXEC);
  run::ProcessOptions options = shell("echo hello >&3");
  options.file = file;
  run::run_process(options);
  char text[6] = {};
  EXPECT_EQ(pread(file, text, 6, 0), 6);
  EXPECT_EQ(std::string(text, 6), "hello\n");
  ::close(file);
}

}  // namespace
}  // namespace shardlings::grading

// A run over two processes, of which this one is the first: what goes wrong in the other one, or between them, is told
// here, and takes nobody along.
#include "world/process_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>

#include "base/machine_fault.h"
#include "front/remote/messages.h"
#include "support/socket_transport.h"
#include "support/worlds.h"

namespace shardlings::world {
namespace {

using front::RunReport;
using testing::HasSubstr;

constexpr int kStatusOfEnd = 7;
/// Of address space: more than any process needs here.
constexpr std::int64_t kLimitThere = std::int64_t{1} << 44;

/// What a process does with its side of the transport before its ranks begin.
using Before = std::function<void(back::Progress&)>;

int second_process(const support::Sockets& sockets, Options options, const support::Body& body, const Before& before) {
  try {
    back::Progress progress(support::make_socket_transport(sockets, 1));
    options.progress = &progress;
    if (before) before(progress);
    run(options, body);
    return kStatusOfEnd;
  } catch (const std::exception&) {
    return 1;
  }
}

/// Two ranks, one here and one in a forked process. Expects that this one comes to its end.
RunReport run_in_two(const Options& options, const support::Body& body, const Before& before = {}) {
  forget_machine_faults();
  const support::Sockets sockets = support::make_sockets(2);
  const pid_t child = fork();
  if (child == 0) _exit(second_process(sockets, options, body, before));
  back::Progress progress(support::make_socket_transport(sockets, 0));
  Options first = options;
  first.progress = &progress;
  RunReport report = run(first, body);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), kStatusOfEnd);
  return report;
}

TEST(ProcessWorld, AMachineFaultOfAnotherProcessCountsHere) {
  const RunReport report = run_in_two(support::options_for(2), [](Rank& rank) {
    if (rank.id() == 1) throw MachineFault("no threads on ada");
    rank.world().barrier();
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->rank, 1);
  EXPECT_FALSE(report.failure->no_memory);
  EXPECT_EQ(first_machine_fault(), "no threads on ada");
}

TEST(ProcessWorld, ThatThereWasNoMemoryInAnotherProcessIsTold) {
  const RunReport report = run_in_two(
      support::options_for(2),
      [](Rank& rank) {
        if (rank.id() == 1) throw std::bad_alloc();
        rank.world().barrier();
      },
      [](back::Progress&) {
        const rlimit limit{kLimitThere, RLIM_INFINITY};
        setrlimit(RLIMIT_AS, &limit);
      });
  ASSERT_TRUE(report.failure);
  ASSERT_TRUE(report.failure->no_memory);
  EXPECT_EQ(report.failure->no_memory->address_space, kLimitThere) << "the limit of the other process";
}

TEST(ProcessWorld, ARunWithoutFaultHasNone) {
  const RunReport report = run_in_two(support::options_for(2), [](Rank& rank) { rank.world().barrier(); });
  EXPECT_FALSE(report.failure) << report.failure->message;
  EXPECT_EQ(first_machine_fault(), "");
}

/// Has no room.
template <class Error>
class FullStore final : public back::Store {
 public:
  std::vector<back::KeptItem> load() override { return {}; }
  void put(const back::KeptItem&) override { throw Error(); }
  void remove(const std::string&, const std::string&) override {}
  void publish(const std::string&, const std::string&) override {}
};

struct DiskIsFull : std::runtime_error {
  DiskIsFull() : std::runtime_error("the disk is full") {}
};

// Nobody waits for an answer to a write, so nobody's call can throw that.
TEST(ProcessWorld, WhatCannotBeHandledEndsTheRunAndNotTheProcess) {
  Options options = support::options_for(2);
  options.make_store = [] { return std::make_unique<FullStore<DiskIsFull>>(); };
  const RunReport report = run_in_two(options, [](Rank& rank) {
    if (rank.id() == 1) rank.store().write_number("f", {"n"}, 1);
    for (;;) rank.world().barrier();
  });
  ASSERT_TRUE(report.failure);
  EXPECT_THAT(report.failure->message, HasSubstr("what process 1 has said cannot be handled here: the disk is full"));
  EXPECT_THAT(first_machine_fault(), HasSubstr("the disk is full"));
}

// The program may have used it up: that is told apart from what only the machine can lack.
TEST(ProcessWorld, NoMemoryForWhatIsHandledIsNoMachineFault) {
  Options options = support::options_for(2);
  options.make_store = [] { return std::make_unique<FullStore<std::bad_alloc>>(); };
  std::vector<back::Fault> told;
  options.on_fault = [&](const back::Fault& fault) { told.push_back(fault); };
  const RunReport report = run_in_two(options, [](Rank& rank) {
    if (rank.id() == 1) rank.store().write_number("f", {"n"}, 1);
    for (;;) rank.world().barrier();
  });
  ASSERT_TRUE(report.failure);
  EXPECT_TRUE(report.failure->no_memory);
  EXPECT_EQ(first_machine_fault(), "");
  ASSERT_EQ(told.size(), 1U) << "before the run has ended, in the first process";
  EXPECT_TRUE(told[0].no_memory);
  EXPECT_EQ(told[0].what, report.failure->message);
}

// The other process has the learner's code in it.
TEST(ProcessWorld, NumbersThatNameNothingEndTheRun) {
  for (const back::Channel channel : {back::Channel::server, back::Channel::world}) {
    const auto lie = [&](back::Progress& progress) {
      front::remote::Writer message;
      message << std::uint8_t{1} << 1'000'000 << 0;
      progress.locked([&] { progress.send(0, channel, message.bytes()); });
    };
    const RunReport report = run_in_two(
        support::options_for(2),
        [](Rank& rank) {
          for (;;) rank.world().barrier();
        },
        lie);
    ASSERT_TRUE(report.failure);
    EXPECT_THAT(report.failure->message, HasSubstr("what process 1 has said cannot be handled here"));
  }
}

TEST(ProcessWorld, AMessageForNobodyEndsTheRun) {
  const auto lie = [](back::Progress& progress) {
    progress.locked([&] { progress.transport().send(0, "\xFF and more"); });
  };
  const RunReport report = run_in_two(
      support::options_for(2),
      [](Rank& rank) {
        for (;;) rank.world().barrier();
      },
      lie);
  ASSERT_TRUE(report.failure);
  EXPECT_THAT(report.failure->message, HasSubstr("a message is for nobody"));
}

struct Box {
  front::BlackBoxEntry entries[2];
};

// In a file of its own a process on another host would look for who is running, if it is to say who computes.
TEST(ProcessWorld, EachProcessNotesWhatItsRanksDo) {
  void* memory = mmap(nullptr, sizeof(Box), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& far = *new (memory) Box;
  const auto state = [&] { return static_cast<front::RankState>(far.entries[1].state.load()); };
  front::BlackBox box{far.entries, 2};
  Options options = support::options_for(2);
  const auto body = [&](Rank& rank) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (rank.id() == 0 && state() != front::RankState::blocked && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (rank.id() == 0 && state() != front::RankState::blocked) throw std::runtime_error("rank 1 waits");
    rank.world().barrier();
    if (rank.id() == 1 && state() != front::RankState::running) throw std::runtime_error("rank 1 runs");
  };
  // The box is the second process's alone.
  const support::Sockets sockets = support::make_sockets(2);
  const pid_t child = fork();
  if (child == 0) {
    options.black_box = &box;
    _exit(second_process(sockets, options, body, {}));
  }
  back::Progress progress(support::make_socket_transport(sockets, 0));
  options.progress = &progress;
  const RunReport report = run(options, body);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(report.failure) << report.failure->message;
  EXPECT_EQ(state(), front::RankState::finished);
  munmap(memory, sizeof(Box));
}

}  // namespace
}  // namespace shardlings::world

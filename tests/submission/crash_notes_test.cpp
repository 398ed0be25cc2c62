// What a crash leaves behind when several ranks crash at once.
#include "submission/crash_notes.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include "base/sanitizers.h"

namespace shardlings::submission {
namespace {

constexpr int kRanks = 8;

struct Shared {
  boundary::CrashNote note;
  front::BlackBoxEntry entries[kRanks];
};

/// Ends by SIGABRT, of all ranks in the same moment.
[[noreturn]] void crash_together(Shared& shared) {
  CrashNotes notes(shared.note, {shared.entries, kRanks}, nullptr);
  std::barrier<> all(kRanks);
  std::vector<std::thread> ranks;
  const auto crash = [&](int rank) {
    notes.watch_this_thread(rank);
    all.arrive_and_wait();
    std::abort();
  };
  for (int rank = 0; rank < kRanks; ++rank) ranks.emplace_back(crash, rank);
  for (std::thread& rank : ranks) rank.join();
  _exit(0);
}

TEST(CrashNotes, TheFirstOfSeveralCrashesIsNotedWithItsCalls) {
  if (kThreadSanitizer) GTEST_SKIP() << "a thread sanitizer's runtime takes the signals itself";
  for (int turn = 0; turn < 40; ++turn) {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto* shared = new (memory) Shared;
    const pid_t child = fork();
    if (child == 0) crash_together(*shared);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
    EXPECT_EQ(shared->note.signal, SIGABRT);
    EXPECT_GE(shared->note.rank, 0);
    EXPECT_NE(shared->note.frames[0], 0U) << "turn " << turn;
    munmap(memory, sizeof(Shared));
  }
}

std::atomic<int> g_told = 0;  // NOLINT: a handler has no argument

/// The notes of one case after another, then exit() in the last. The status says how often somebody was told.
[[noreturn]] void exit_in_the_third_case(Shared& shared) {
  tell_of_crashes([] {
    if (++g_told > 1) _exit(g_told);
  });
  std::atexit([] { _exit(g_told); });  // the last one of all
  for (int kase = 0; kase < 2; ++kase) CrashNotes(shared.note, {shared.entries, kRanks}, nullptr);
  const CrashNotes last(shared.note, {shared.entries, kRanks}, nullptr);
  std::exit(0);  // NOLINT: that is what is tested
}

TEST(CrashNotes, AnExitIsToldOnceHoweverManyCasesWereBefore) {
  Shared shared;
  const pid_t child = fork();
  if (child == 0) exit_in_the_third_case(shared);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

}  // namespace
}  // namespace shardlings::submission

// What every engine promises, and what fibers promise beyond that.
#include "back/engine/engine.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/rank_local.h"
#include "base/sanitizers.h"

namespace shardlings::back {
namespace {

using Word = std::atomic<std::uint32_t>;

struct EngineKind {
  const char* name;
  std::unique_ptr<Engine> (*make)();
};

class OnEveryEngine : public testing::TestWithParam<EngineKind> {
 protected:
  std::unique_ptr<Engine> engine_ = GetParam().make();

  void wait(const Word& word, std::uint32_t value) {
    for (std::uint32_t now = word.load(); now < value; now = word.load()) {
      if (!engine_->spin(word, now)) engine_->park(word, now);
    }
  }
  void add(Word& word) {
    word.fetch_add(1);
    engine_->wake(word);
  }
};

TEST_P(OnEveryEngine, RunsEachRankOnce) {
  for (const int ranks : {1, 2, 7, 100}) {
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(ranks));
    engine_->run(ranks, [&](int rank) { ++runs[static_cast<std::size_t>(rank)]; });
    for (const auto& times : runs) EXPECT_EQ(times, 1) << ranks << " ranks";
  }
}

TEST_P(OnEveryEngine, EachRankHasAnAddressOfItsOwn) {
  constexpr std::uint32_t kRanks = 8;
  Word arrived{0};
  std::array<int, kRanks> own{};
  std::array<void*, kRanks> found{};
  engine_->run(kRanks, [&](int rank) {
    const auto at = static_cast<std::size_t>(rank);
    EXPECT_EQ(rank_local(), nullptr);
    rank_local() = &own[at];
    add(arrived);
    wait(arrived, kRanks);  // all others have set theirs meanwhile
    found[at] = rank_local();
    rank_local() = nullptr;
  });
  for (std::size_t rank = 0; rank < kRanks; ++rank) EXPECT_EQ(found[rank], &own[rank]) << "rank " << rank;
  EXPECT_EQ(rank_local(), nullptr) << "the thread has got its own back";
}

TEST_P(OnEveryEngine, WakesASleepingRank) {
  constexpr std::uint32_t kRanks = 20, kRounds = 50;
  Word arrived{0};
  engine_->run(kRanks, [&](int) {
    for (std::uint32_t round = 1; round <= kRounds; ++round) {
      add(arrived);
      wait(arrived, round * kRanks);
    }
  });
  EXPECT_EQ(arrived, kRounds * kRanks);
}

TEST_P(OnEveryEngine, DoesNotSleepOnAWordThatHasChanged) {
  engine_->run(1, [&](int) {
    const Word word{2};
    engine_->park(word, 1);
  });
}

// Every rank sleeps in a catch block while the others throw and catch.
TEST_P(OnEveryEngine, KeepsTheExceptionsOfRanksApart) {
  constexpr int kRanks = 50;
  Word inside{0};
  std::vector<std::string> caught(kRanks);
  engine_->run(kRanks, [&](int rank) {
    try {
      try {
        throw std::runtime_error(std::to_string(rank));
      } catch (const std::exception&) {
        add(inside);
        wait(inside, kRanks);
        EXPECT_EQ(std::uncaught_exceptions(), 0);
        throw;
      }
    } catch (const std::exception& error) {
      caught[static_cast<std::size_t>(rank)] = error.what();
    }
  });
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(caught[static_cast<std::size_t>(rank)], std::to_string(rank));
}

INSTANTIATE_TEST_SUITE_P(Engines, OnEveryEngine,
                         testing::Values(EngineKind{"threads", make_threads_engine},
                                         EngineKind{"fibers", [] { return make_fibers_engine(); }},
                                         EngineKind{"shuffled_fibers", [] { return make_fibers_engine(7); }}),
                         [](const auto& info) { return std::string(info.param.name); });

/// The order in which ten ranks come by, three times each.
std::vector<int> schedule(std::uint64_t seed) {
  std::vector<int> order;
  const auto engine = make_fibers_engine(seed);
  Word arrived{0};
  engine->run(10, [&](int rank) {
    for (std::uint32_t round = 1; round <= 3; ++round) {
      order.push_back(rank);
      if (arrived.fetch_add(1) + 1 == 10 * round) engine->wake(arrived);
      for (std::uint32_t now = arrived; now < 10 * round; now = arrived) {
        if (!engine->spin(arrived, now)) engine->park(arrived, now);
      }
    }
  });
  return order;
}

TEST(Fibers, GoInTheSameOrderInEveryRun) {
  for (const std::uint64_t seed : {0, 1, 2}) EXPECT_EQ(schedule(seed), schedule(seed)) << "seed " << seed;
  EXPECT_NE(schedule(1), schedule(2));
  EXPECT_NE(schedule(0), schedule(1));
}

TEST(Fibers, TakeThousandsOfRanks) {
  constexpr int kRanks = 5000;
  const auto engine = make_fibers_engine();
  Word arrived{0};
  engine->run(kRanks, [&](int) {
    arrived.fetch_add(1);
    while (arrived < kRanks) engine->park(arrived, arrived);
    engine->wake(arrived);
  });
  EXPECT_EQ(arrived, kRanks);
}

int depth_of(int left) {
  std::array<char, 4096> frame{};
  frame[static_cast<std::size_t>(left) % frame.size()] = 1;
  return left == 0 ? 0 : std::accumulate(frame.begin(), frame.end(), 0) + depth_of(left - 1);
}

TEST(Fibers, HaveRoomForDeepCalls) {
  int depth = 0;
  make_fibers_engine()->run(2, [&](int rank) {
    if (rank == 1) depth = depth_of(100);
  });
  EXPECT_EQ(depth, 100);
}

TEST(Fibers, SayThatNobodyIsLeftToWakeASleeper) {
  const auto engine = make_fibers_engine();
  const Word word{0};
  EXPECT_THROW(engine->run(2,
                           [&](int rank) {
                             if (rank == 0) engine->park(word, 0);
                           }),
               std::logic_error);
  int runs = 0;
  engine->run(3, [&](int) {
    ++runs;
    engine->wake(word);
  });
  EXPECT_EQ(runs, 3) << "what has failed leaves nothing behind";
}

/// In a process of its own, which may have little more memory than it has: room for some stacks, and not for all.
[[noreturn]] void run_out_of_threads() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  constexpr std::size_t kRoom = 64 << 20;
  const rlimit limit{pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + kRoom, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
  std::atomic<int> ran{0};
  try {
    make_threads_engine()->run(1000, [&](int) { ++ran; });
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "%d ran: %s\n", ran.load(), error.what());
    std::_Exit(3);
  }
  std::_Exit(4);
}

TEST(ThreadsDeathTest, SayThatThereAreNotEnough) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "its shadow of the memory is larger than any limit";
  EXPECT_EXIT(run_out_of_threads(), testing::ExitedWithCode(3),
              "0 ran: 1000 ranks need a thread each, and this machine gives no more than [0-9]+");
}

}  // namespace
}  // namespace shardlings::back

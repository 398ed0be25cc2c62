// The emulation is as unforgiving as it claims: mistakes of kernels show.
#include <gtest/gtest.h>

#include <vector>

#include "back/kernels/cuda/block.h"
#include "back/kernels/cuda/emulation/blocks.h"

namespace shardlings::emulation {
namespace {

using back::cuda::sum_block;

/// Every thread's answer.
template <class F>
std::vector<float> on_block(unsigned threads, F f) {
  std::vector<float> answers(threads);
  run_grid(dim3(2), dim3(threads), [&] { answers[threadIdx.x] = f(); });  // the second block in the other direction
  return answers;
}

TEST(Emulation, AddsUpAllThreadsOfABlock) {
  for (const unsigned threads : {32U, 64U, 512U, 1024U}) {
    const float want = static_cast<float>(threads * (threads - 1)) / 2;
    const auto answers = on_block(threads, [] { return sum_block(static_cast<float>(threadIdx.x)); });
    EXPECT_EQ(answers, std::vector<float>(threads, want));
  }
}

TEST(Emulation, SumsCanFollowOneAnother) {
  const auto answers = on_block(256, [] {
    float total = 0;
    for (int i = 0; i < 10; ++i) total += sum_block(static_cast<float>(i));
    return total;
  });
  EXPECT_EQ(answers, std::vector<float>(256, 45.0F * 256));
}

/// Each thread reads what its neighbour wrote, with or without waiting for it.
float of_neighbour(bool waits) {
  __shared__ float room[64];
  __syncthreads();
  room[threadIdx.x] = -1;
  __syncthreads();
  room[threadIdx.x] = static_cast<float>(threadIdx.x);
  if (waits) __syncthreads();
  return room[(threadIdx.x + 1) % 64];
}

TEST(Emulation, ShowsAMissingBarrier) {
  std::vector<float> want;
  for (int t = 0; t < 64; ++t) want.push_back(static_cast<float>((t + 1) % 64));
  EXPECT_EQ(on_block(64, [] { return of_neighbour(true); }), want);
  EXPECT_NE(on_block(64, [] { return of_neighbour(false); }), want);
}

TEST(Emulation, VotesOfAWarpAndOfABlock) {
  const auto ballots =
      on_block(64, [] { return static_cast<float>(__ballot_sync(0xFFFFFFFFU, threadIdx.x % 32 == 3)); });
  EXPECT_EQ(ballots, std::vector<float>(64, 8.0F));
  const auto any = on_block(64, [] {
    const int first = __syncthreads_or(threadIdx.x == 40 ? 1 : 0);
    return static_cast<float>(10 * first + __syncthreads_or(0));
  });
  EXPECT_EQ(any, std::vector<float>(64, 10.0F));
}

TEST(EmulationDeathTest, StopsAtABarrierThatNotAllReach) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(on_block(64,
                        [] {
                          if (threadIdx.x < 16) return static_cast<float>(__ballot_sync(0xFFFFFFFFU, true));
                          return static_cast<float>(__syncthreads_or(1));
                        }),
               "");
}

TEST(EmulationDeathTest, StopsAtAShuffleWithoutTheWholeWarp) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(on_block(32, [] { return threadIdx.x == 31 ? 0.0F : sum_block(1.0F); }), "");
}

TEST(EmulationDeathTest, StopsAtLaunchesThatNoGpuTakes) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(run_grid(dim3(1), dim3(1025), [] {}), "no GPU takes");
  EXPECT_DEATH(run_grid(dim3(1, 65536), dim3(32), [] {}), "no GPU takes");
}

}  // namespace
}  // namespace shardlings::emulation

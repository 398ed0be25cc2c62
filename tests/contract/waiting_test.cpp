// Many more ranks than cores make progress, and none is left behind.
#include <gtest/gtest.h>

#include "contract/on_every_world.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using front::RunReport;

class Waiting : public OnEveryWorld {
 protected:
  /// Each round: a barrier, and a number that goes through all ranks one after another.
  void check(int ranks, int rounds) const {
    const RunReport report = run(ranks, [&](Rank& rank) {
      Tensor token = rank.zeros(1, Kind::buffer);
      Tensor one = rank.zeros(1, Kind::buffer);
      fill(one, 1);
      for (int i = 0; i < rounds; ++i) {
        rank.world().barrier();
        if (rank.id() > 0) rank.world().recv(token, rank.id() - 1);
        add(token, one);
        if (rank.id() + 1 < ranks) rank.world().send(token, rank.id() + 1);
        rank.world().broadcast(token, ranks - 1);
      }
      support::publish(rank, "token", token);
    });
    for (int r = 0; r < ranks; ++r) {
      EXPECT_EQ(support::published(report, r, "token"), std::vector<float>{static_cast<float>(ranks * rounds)});
    }
  }
};

TEST_P(Waiting, TwoRanksOften) {
  check(2, 300);
}
TEST_P(Waiting, FourRanks) {
  check(4, 100);
}
TEST_P(Waiting, EightRanks) {
  if (!supports(8)) GTEST_SKIP() << lacks(8);
  check(8, 60);
}
TEST_P(Waiting, SixtyFourRanks) {
  if (!supports(64)) GTEST_SKIP() << lacks(64);
  check(64, 4);
}

TEST_P(Waiting, ManyWorldsOneAfterAnother) {
  for (int i = 0; i < 30; ++i) {
    check(least(1 + i % 4), 1);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(World, Waiting, testing::ValuesIn(support::world_kinds()), name_of_world);

}  // namespace
}  // namespace shardlings::contract

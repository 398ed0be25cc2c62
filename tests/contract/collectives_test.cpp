// Every collective on every kind of world: what comes out, what is counted, what the clock shows.
#include <gtest/gtest.h>

#include "contract/collective_case.h"
#include "contract/on_every_world.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using front::RunReport;

class Collectives : public OnEveryWorld {
 protected:
  /// Runs the cases in one world of `ranks` and compares the outputs with the serial computation.
  void check(int ranks, const std::vector<CollectiveCase>& cases) {
    const RunReport report = run(ranks, [&](Rank& rank) {
      for (const CollectiveCase& c : cases) run_case(rank, rank.world(), c, c.name());
    });
    if (report.failure) return;
    for (const CollectiveCase& c : cases) expect_outputs(report, c, ranks);
  }

  void expect_outputs(const RunReport& report, const CollectiveCase& c, int ranks) const {
    const auto expected = expected_of(c, ranks);
    for (int r = 0; r < ranks; ++r) {
      if (c.kind == Collective::gather && r != c.root) continue;
      const std::string who = c.name() + " on rank " + std::to_string(r) + " of " + std::to_string(ranks);
      support::expect_values(support::published(report, r, c.name()), expected[static_cast<std::size_t>(r)], who,
                             GetParam().equality);
    }
  }
};

TEST_P(Collectives, GiveWhatASerialComputationGives) {
  for (int ranks = least(1); ranks <= most(9); ++ranks) {
    check(ranks, all_cases({0, 1, ranks - 1, ranks, 17}, ranks));
  }
}

TEST_P(Collectives, OfManyElements) {
  for (const int ranks : possible({2, 3, 4, 9})) {
    check(ranks, few_cases(1000, ranks));
    check(ranks, few_cases(100003, ranks));
  }
}

TEST_P(Collectives, OfMoreRanksThanOneKernelCombines) {
  if (!supports(15)) GTEST_SKIP() << lacks(15);
  for (const int ranks : possible({15, 16})) check(ranks, few_cases(50, ranks));
}

TEST_P(Collectives, OfMoreRanksThanTwoKernelsCombine) {
  if (!supports(17)) GTEST_SKIP() << lacks(17);
  check(17, all_cases({5, 50}, 17));
}

INSTANTIATE_TEST_SUITE_P(World, Collectives, testing::ValuesIn(support::world_kinds()), name_of_world);

}  // namespace
}  // namespace shardlings::contract

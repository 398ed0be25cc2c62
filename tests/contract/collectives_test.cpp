// Every collective on every kind of world: what comes out, what is counted, what the clock shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

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

/// The sentence with which a world of two ranks refuses what `body` asks for.
std::string refusal(const std::function<void(Rank&)>& body) {
  world::Options options;
  options.ranks = 2;
  const RunReport report = world::run(options, body);
  return report.failure ? report.failure->message : "";
}

TEST(EightBits, AreNotCombined) {
  const auto with = [](DType dtype, const std::function<void(Group&, View)>& call) {
    return refusal([&](Rank& rank) {
      Tensor data = rank.zeros(4, Kind::other, dtype);
      call(rank.world(), data);
    });
  };
  const auto codes =
      testing::HasSubstr("the data are codes of 8 bits (e4m3), each of which means a number only together");
  using enum ReduceOp;
  for (const ReduceOp op : {sum, mean, max, min}) {
    EXPECT_THAT(with(DType::e4m3, [&](Group& world, View data) { world.all_reduce(data, op); }), codes);
  }
  EXPECT_THAT(with(DType::e4m3, [](Group& world, View data) { world.reduce(data, sum, 0); }), codes);
  EXPECT_THAT(with(DType::e4m3,
                   [](Group& world, View data) {
                     world.reduce_scatter(data, data.part({0, 2}), sum);
                   }),
              codes);
  EXPECT_THAT(with(DType::e8m0, [](Group& world, View data) { world.all_reduce(data, sum); }),
              testing::HasSubstr("the data are scales of blocks (e8m0), of which there is only the max, not the sum"));
  EXPECT_EQ(with(DType::e8m0, [](Group& world, View data) { world.all_reduce(data, max); }), "");
}

INSTANTIATE_TEST_SUITE_P(World, Collectives, testing::ValuesIn(support::world_kinds()), name_of_world);

}  // namespace
}  // namespace shardlings::contract

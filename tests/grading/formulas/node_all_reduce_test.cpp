// What an all-reduce over nodes costs, worked out by hand.
#include "grading/formulas/node_all_reduce.h"

#include <gtest/gtest.h>

#include "grading/formulas/nodes_of_ranks.h"

namespace shardlings::grading::formulas {
namespace {

TEST(NodeAllReduce, TakesRoundsOfTheWholeOrStepsOfParts) {
  const NodeAllReduce cost(nodes_of(15, 3));  // 5 nodes; 1 us and 1 ns a byte inside, 10 us and 10 ns between
  EXPECT_EQ(cost.nodes, 5);
  EXPECT_EQ(cost.tree_time(300).value(), Nanos(2 * (2 * (1000 + 1200) + 3 * (10'000 + 12'000))));
  EXPECT_EQ(cost.levels_time(300).value(), Nanos(2 * (2 * (1000 + 400) + 4 * (10'000 + 800))));
  EXPECT_EQ(cost.sent_inside(300).value(), Bytes(2 * 800));
  EXPECT_EQ(cost.sent_between(300).value(), Bytes(2 * 320));
}

TEST(NodeAllReduce, CountsTheLongestPartsAndTheShorterLastNode) {
  const NodeAllReduce cost(nodes_of(11, 4));  // nodes of 4, 4 and 3
  EXPECT_EQ(cost.nodes, 3);
  EXPECT_EQ(cost.node_of(10), 2);
  EXPECT_EQ(cost.part(10), 3);
  EXPECT_EQ(cost.piece(10), 1);
  EXPECT_EQ(cost.sent_inside(10).value(), Bytes(2 * 4 * (10 - 2))) << "all but the shortest part, twice";
  EXPECT_EQ(cost.all_between(judge::named("size", Bytes(40))).value(), Bytes(2 * 2 * 40));
  EXPECT_EQ(cost.all_inside(judge::named("size", Bytes(40))).value(), Bytes(2 * 8 * 40));
}

TEST(NodeAllReduce, HasOneNodeAtLeast) {
  const NodeAllReduce cost(nodes_of(2, 8));
  EXPECT_EQ(cost.k, 2);
  EXPECT_EQ(cost.nodes, 1);
  EXPECT_EQ(cost.tree_time(5).value(), Nanos(2 * (1000 + 20)));
}

TEST(NodeAllReduce, TakesEquallyLongAtTheChangeover) {
  const NodeAllReduce cost(nodes_of(15, 3));
  const Count at = cost.changeover().value().value() / judge::kBytesOfF32 / 15 * 15;  // parts come out even
  EXPECT_TRUE(cost.tree_is_faster(at - 15));
  EXPECT_FALSE(cost.tree_is_faster(at + 30));
}

TEST(RoundsOfTree, AreRoundedUp) {
  for (const auto& [ranks, rounds] : {std::pair{1, 0}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {8, 3}, {9, 4}}) {
    EXPECT_EQ(rounds_of_tree(ranks), rounds) << ranks << " ranks";
  }
}

}  // namespace
}  // namespace shardlings::grading::formulas

// What messages of an all-reduce over nodes say of a mistake, and what they do not prove.
#include "grading/formulas/node_mistakes.h"

#include <gtest/gtest.h>

#include <string>

#include "base/parts.h"
#include "grading/formulas/nodes_of_ranks.h"

namespace shardlings::grading::formulas {
namespace {

using Messages = std::vector<NodeMessage>;

/// Messages on nodes of k ranks, each at a moment of its own.
class Sent {
 public:
  explicit Sent(int k) : k_(k) {}
  Sent& send(int from, int to, Count elements) {
    messages_.push_back({from, to, 4 * elements, Nanos(++now_), from / k_ != to / k_});
    return *this;
  }
  Sent& exchange(int a, int b, Count elements) {
    send(a, b, elements).send(b, a, elements);
    messages_.back().posted = messages_[messages_.size() - 2].posted;
    return *this;
  }
  const Messages& messages() const { return messages_; }

 private:
  int k_;
  std::int64_t now_ = 0;
  Messages messages_;
};

constexpr Count kSize = 3600;

std::string in_tree(const Sent& sent) {
  return mistake_in_tree(NodeAllReduce(nodes_of(9, 3)), kSize, sent.messages());
}

std::string in_levels(const NodeAllReduce& plan, const Sent& sent) {
  return mistake_in_levels(plan, kSize, sent.messages());
}

TEST(MistakeInTree, IsToldByWhoSendsTheWholeToWhom) {
  EXPECT_EQ(in_tree(Sent(3).exchange(0, 1, kSize)), "exchanged_in_pairs");
  EXPECT_EQ(in_tree(Sent(3).send(4, 2, kSize)), "tree_across_nodes");
  EXPECT_EQ(in_tree(Sent(3).send(3, 0, kSize).send(4, 1, kSize).send(5, 2, kSize)), "every_rank_crosses");
  Sent star(3);
  for (int rank = 1; rank < 9; ++rank) star.send(rank, 0, kSize);
  EXPECT_EQ(in_tree(star), "star_of_ranks");
}

TEST(MistakeInTree, IsNoneWherePartsTravelOrSomeOfTheRanksCross) {
  EXPECT_EQ(in_tree(Sent(3).send(2, 3, kSize / 9)), "") << "a ring is no tree";
  EXPECT_EQ(in_tree(Sent(3).send(3, 0, kSize).send(4, 1, kSize)), "");
  EXPECT_EQ(in_tree(Sent(3).exchange(0, 1, kSize / 2)), "");
  // Rank 0 of one node and rank 1 of another cross: together all numbers, and no node has both.
  const Sent one_of_each = Sent(2).send(0, 2, kSize).send(3, 1, kSize);
  EXPECT_EQ(mistake_in_tree(NodeAllReduce(nodes_of(4, 2)), kSize, one_of_each.messages()), "");
}

/// All ranks send `times` messages of so many elements to the rank with their number on the next node.
Sent around_nodes(const NodeAllReduce& plan, int times, Count elements) {
  Sent sent(plan.k);
  for (int rank = 0; rank < plan.ranks; ++rank) {
    for (int i = 0; i < times; ++i) sent.send(rank, (rank + plan.k) % plan.ranks, elements);
  }
  return sent;
}

TEST(MistakeInLevels, WholeDataBetweenNodesAreCutByThem) {
  const NodeAllReduce plan(nodes_of(8, 2));  // 4 nodes
  EXPECT_EQ(in_levels(plan, around_nodes(plan, 6, kSize / 4)), "whole_data_between");
  // As many bytes cross where each rank sends its part to the three others, and the sum is made four times.
  EXPECT_EQ(in_levels(plan, around_nodes(plan, 3, kSize / 2)), "parts_not_cut");
}

TEST(MistakeInLevels, OnePortIsNoRing) {
  const NodeAllReduce plan(nodes_of(9, 3));
  Sent leaders(3), ring(3);
  for (int node = 0; node < 3; ++node) {
    for (int step = 0; step < 4; ++step) leaders.send(3 * node, 3 * ((node + 1) % 3), kSize / 3);
    for (int r = 1; r < 3; ++r) leaders.send(3 * node + r, 3 * node, kSize / 3);
  }
  EXPECT_EQ(in_levels(plan, leaders), "one_port") << "messages are equally long inside and between";
  for (int rank = 0; rank < 9; ++rank) {
    for (int step = 0; step < 16; ++step) ring.send(rank, (rank + 1) % 9, kSize / 9);
  }
  EXPECT_EQ(in_levels(plan, ring), "flat_ring");
  EXPECT_EQ(in_levels(plan, Sent(3).send(1, 0, kSize)), "whole_data_inside");
  EXPECT_EQ(in_levels(plan, around_nodes(plan, 5, kSize / 9)), "") << "a step too many";
}

TEST(MistakeInChoice, IsWhereTheChangeoverLies) {
  const NodeAllReduce plan(nodes_of(15, 3));
  const Count n = plan.changeover().value().value() / 4;
  const std::vector<Count> sizes = {n / 4, n / 2, 2 * n, 4 * n};
  EXPECT_EQ(mistake_in_choice(plan, sizes, {true, true, true, false}), "changeover_too_high");
  EXPECT_EQ(mistake_in_choice(plan, sizes, {true, false, false, false}), "changeover_too_low");
  EXPECT_EQ(mistake_in_choice(plan, sizes, {false, false, true, true}), "slower_one_taken");
  EXPECT_EQ(mistake_in_choice(plan, sizes, {true, true, true, true}), "changeover_too_high");
  EXPECT_EQ(mistake_in_choice(plan, sizes, {false, false, false, false}), "changeover_too_low");
}

}  // namespace
}  // namespace shardlings::grading::formulas

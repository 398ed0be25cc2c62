/// \file
/// The tree that sums and results travel along, as a run's messages show it, and what its shape costs.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "grading/judge/grader.h"

namespace shardlings::grading::formulas {

/// Of each rank the ranks that it receives sums from, or hands results to, in the order in which it deals with them,
/// one after another. Rank 0 is the root.
struct MessageTree {
  std::vector<std::vector<int>> children;

  /// One of the members deals with all others of them.
  bool is_star(const std::vector<int>& members) const;
  /// Each of the members deals with one other of them, but for the last.
  bool is_chain(const std::vector<int>& members) const;
};

/// A message's time from one rank to another.
using HopTime = std::function<Nanos(int from, int to)>;
/// How long it takes until all ranks have the root's result (down), or the root has all sums (up): as the tree is, or
/// with children dealt with in the best order. Then results go to those first that have the longest way before them,
/// and sums are taken from those first that are ready first.
Nanos time_down(const MessageTree& tree, const HopTime& hop, bool best_order);
Nanos time_up(const MessageTree& tree, const HopTime& hop, bool best_order);

/// The tree by which sums reach rank 0, and the one by which the result comes back.
struct MessageTrees {
  MessageTree up, down;
};
/// Nothing if the messages are no such trees: every rank but rank 0 sends its sum to its parent once, before all other
/// messages, and receives the result once, after all others; nothing else is sent, and no rank starts two at once.
std::optional<MessageTrees> message_trees(const judge::CheckContext& check);

}  // namespace shardlings::grading::formulas

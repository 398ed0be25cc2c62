#include "grading/formulas/message_tree.h"

#include <algorithm>
#include <utility>

namespace shardlings::grading::formulas {
namespace {

using front::Event;
using front::EventKind;

std::vector<int>& of(std::vector<std::vector<int>>& children, int rank) {
  return children[static_cast<std::size_t>(rank)];
}

const std::vector<int>& of(const std::vector<std::vector<int>>& children, int rank) {
  return children[static_cast<std::size_t>(rank)];
}

/// How many of its children are among the members.
std::ptrdiff_t served(const MessageTree& tree, int rank, const std::vector<int>& members) {
  const std::vector<int>& children = of(tree.children, rank);
  return std::count_if(children.begin(), children.end(),
                       [&](int child) { return std::find(members.begin(), members.end(), child) != members.end(); });
}

/// From the moment at which this rank has the result until all below it have it.
Nanos time_below(const MessageTree& tree, const HopTime& hop, bool best_order, int rank) {
  std::vector<std::pair<Nanos, int>> next;
  for (const int child : of(tree.children, rank)) next.emplace_back(time_below(tree, hop, best_order, child), child);
  if (best_order) std::stable_sort(next.begin(), next.end(), [](auto& a, auto& b) { return a.first > b.first; });
  Nanos now, end;
  for (const auto& [below, child] : next) {
    now += hop(rank, child);
    end = std::max(end, now + below);
  }
  return end;
}

/// When this rank has the sum of all below it.
Nanos ready(const MessageTree& tree, const HopTime& hop, bool best_order, int rank) {
  std::vector<std::pair<Nanos, int>> next;
  for (const int child : of(tree.children, rank)) next.emplace_back(ready(tree, hop, best_order, child), child);
  if (best_order) std::stable_sort(next.begin(), next.end(), [](auto& a, auto& b) { return a.first < b.first; });
  Nanos now;
  for (const auto& [sum, child] : next) now = std::max(now, sum) + hop(child, rank);
  return now;
}

/// No two messages of a rank start at the same time.
bool one_after_another(const std::vector<Event>& messages) {
  const auto together = [](const Event& a, const Event& b) { return a.posted == b.posted; };
  return std::adjacent_find(messages.begin(), messages.end(), together) == messages.end();
}

/// All ranks can be reached from rank 0, each in one way.
bool is_tree(const MessageTree& tree) {
  std::vector<int> reached = {0};
  for (std::size_t i = 0; i < reached.size() && reached.size() <= tree.children.size(); ++i) {
    const std::vector<int> children = of(tree.children, reached[i]);
    reached.insert(reached.end(), children.begin(), children.end());
  }
  std::sort(reached.begin(), reached.end());
  const bool twice = std::adjacent_find(reached.begin(), reached.end()) != reached.end();
  return !twice && reached.size() == tree.children.size();
}

}  // namespace

bool MessageTree::is_star(const std::vector<int>& members) const {
  return std::any_of(members.begin(), members.end(),
                     [&](int rank) { return served(*this, rank, members) == std::ssize(members) - 1; });
}

bool MessageTree::is_chain(const std::vector<int>& members) const {
  std::ptrdiff_t all = 0;
  for (const int rank : members) {
    const std::ptrdiff_t own = served(*this, rank, members);
    if (own > 1) return false;
    all += own;
  }
  return all == std::ssize(members) - 1;
}

Nanos time_down(const MessageTree& tree, const HopTime& hop, bool best_order) {
  return time_below(tree, hop, best_order, 0);
}

Nanos time_up(const MessageTree& tree, const HopTime& hop, bool best_order) {
  return ready(tree, hop, best_order, 0);
}

std::optional<MessageTrees> message_trees(const judge::CheckContext& check) {
  MessageTrees trees;
  trees.up.children.resize(static_cast<std::size_t>(check.ranks()));
  trees.down = trees.up;
  std::vector<int> parents(trees.up.children.size(), -1), sources = parents;
  std::vector<std::vector<Event>> sends, receives;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    sends.push_back(check.events(rank, EventKind::send));
    receives.push_back(check.events(rank, EventKind::recv));
    if (!one_after_another(sends.back()) || !one_after_another(receives.back())) return std::nullopt;
    if (rank == 0) continue;
    if (sends.back().empty() || receives.back().empty()) return std::nullopt;
    parents[static_cast<std::size_t>(rank)] = sends.back().front().peer;
    sources[static_cast<std::size_t>(rank)] = receives.back().back().peer;
  }
  for (std::size_t r = 0; r < sends.size(); ++r) {
    const int rank = static_cast<int>(r);
    // The first message that a rank sends is its sum, and the last one that it receives is the result.
    for (std::size_t i = r == 0 ? 0 : 1; i < sends[r].size(); ++i)
      of(trees.down.children, rank).push_back(sends[r][i].peer);
    for (std::size_t i = 0; i + (r == 0 ? 0 : 1) < receives[r].size(); ++i) {
      of(trees.up.children, rank).push_back(receives[r][i].peer);
    }
  }
  for (std::size_t r = 0; r < sends.size(); ++r) {
    for (const int child : trees.up.children[r]) {
      if (parents[static_cast<std::size_t>(child)] != static_cast<int>(r)) return std::nullopt;
    }
    for (const int child : trees.down.children[r]) {
      if (sources[static_cast<std::size_t>(child)] != static_cast<int>(r)) return std::nullopt;
    }
  }
  if (!is_tree(trees.up) || !is_tree(trees.down)) return std::nullopt;
  return trees;
}

}  // namespace shardlings::grading::formulas

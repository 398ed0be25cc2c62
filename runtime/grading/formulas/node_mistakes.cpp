#include "grading/formulas/node_mistakes.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/parts.h"

namespace shardlings::grading::formulas {
namespace {

std::int64_t bytes_of(Count elements) {
  return elements * judge::kBytesOfF32;
}

}  // namespace

std::int64_t longest_of(const std::vector<NodeMessage>& messages) {
  std::int64_t longest = 0;
  for (const NodeMessage& m : messages) longest = std::max(longest, m.bytes);
  return longest;
}

SharedId mistake_in_tree(const NodeAllReduce& plan, Count n, const std::vector<NodeMessage>& messages) {
  const std::int64_t size = bytes_of(n);
  const auto exchanged = [&](const NodeMessage& m) {
    return std::any_of(messages.begin(), messages.end(), [&](const NodeMessage& other) {
      return m.from == other.to && m.to == other.from && m.posted == other.posted && m.bytes == size;
    });
  };
  if (std::any_of(messages.begin(), messages.end(), exchanged))
    return SharedId("mistake_in_tree", "exchanged_in_pairs");
  std::set<int> senders_to_0;
  std::map<int, std::set<int>> crossing;  // by node: its ranks that send to other nodes
  bool along_nodes = true;
  for (const NodeMessage& m : messages) {
    if (m.bytes != size) return {};  // no tree: only whole data make one
    if (m.to == 0) senders_to_0.insert(m.from);
    if (!m.between) continue;
    crossing[plan.node_of(m.from)].insert(m.from);
    along_nodes = along_nodes && m.from % plan.k == m.to % plan.k;
  }
  if (plan.nodes > 1 && plan.k > 1 && std::ssize(senders_to_0) == plan.ranks - 1)
    return SharedId("mistake_in_tree", "star_of_ranks");
  if (!along_nodes) return SharedId("mistake_in_tree", "tree_across_nodes");
  const bool whole_node_crosses =
      std::ranges::any_of(crossing, [&](const auto& node) { return std::ssize(node.second) == plan.k; });
  return plan.k > 1 && whole_node_crosses ? SharedId("mistake_in_tree", "every_rank_crosses") : SharedId();
}

SharedId mistake_in_levels(const NodeAllReduce& plan, Count n, const std::vector<NodeMessage>& messages) {
  const Count part = plan.part(n);
  const std::int64_t planned = 2 * (plan.nodes - 1) * bytes_of(n);
  std::set<int> crossing, nodes_crossed;  // ranks that send to other nodes, and their nodes
  std::map<int, std::set<int>> to;        // by rank: whom it sends to
  std::set<std::int64_t> lengths_inside, lengths_between;
  std::int64_t crossed = 0;
  for (const NodeMessage& m : messages) {
    to[m.from].insert(m.to);
    (m.between ? lengths_between : lengths_inside).insert(m.bytes);
    crossed += m.between ? m.bytes : 0;
    if (!m.between || m.bytes == 0) continue;
    crossing.insert(m.from);
    nodes_crossed.insert(plan.node_of(m.from));
  }
  if (plan.k > 1 && part < n && lengths_inside.contains(bytes_of(n)))
    return SharedId("mistake_in_levels", "whole_data_inside");
  if (plan.k == 1 || plan.nodes == 1 || part < plan.nodes || lengths_between.empty()) return {};
  const std::int64_t longest = *lengths_between.rbegin(), cut_by_nodes = bytes_of(part_of(n, plan.nodes, 0).size());
  if (crossed == plan.k * planned && (longest == cut_by_nodes || longest == bytes_of(n)))
    return SharedId("mistake_in_levels", "whole_data_between");
  const bool one_each = std::ssize(crossing) == plan.nodes && std::ssize(nodes_crossed) == plan.nodes;
  const bool one_ring = std::ranges::all_of(to, [](const auto& peers) { return peers.second.size() == 1; });
  if (one_each)
    return one_ring && longest == bytes_of(part_of(n, plan.ranks, 0).size())
               ? SharedId("mistake_in_levels", "flat_ring")
               : SharedId("mistake_in_levels", "one_port");
  const auto is_part = [&](std::int64_t bytes) {
    return bytes == bytes_of(part) || bytes == bytes_of(part_of(n, plan.k, plan.k - 1).size());
  };
  return std::ranges::all_of(lengths_between, is_part) && part > 1 ? SharedId("mistake_in_levels", "parts_not_cut")
                                                                   : SharedId();
}

SharedId mistake_in_choice(const NodeAllReduce& plan, const std::vector<Count>& sizes,
                           const std::vector<bool>& took_tree) {
  bool by_tree = false, by_levels = false;  // some size that should not have gone so
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    by_tree = by_tree || (took_tree[i] && !plan.tree_is_faster(sizes[i]));
    by_levels = by_levels || (!took_tree[i] && plan.tree_is_faster(sizes[i]));
  }
  if (by_tree && !by_levels) return SharedId("mistake_in_choice", "changeover_too_high");
  if (by_levels && !by_tree) return SharedId("mistake_in_choice", "changeover_too_low");
  return SharedId("mistake_in_choice", "slower_one_taken");
}

}  // namespace shardlings::grading::formulas

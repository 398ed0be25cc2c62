// Judges all-reduces by trees and by levels: sums on every rank, bytes by class of link, the buffer, virtual time, and
// whether the faster one is taken.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "base/parts.h"
#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/message_tree.h"
#include "grading/formulas/node_all_reduce.h"
#include "grading/formulas/node_mistakes.h"
#include "grading/formulas/shared_diagnosis.h"
#include "grading/formulas/training.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Event, front::EventKind, front::Link;

namespace {

using Numbers = std::vector<float>;
enum class Algorithm : std::uint8_t { tree, levels, choice };

std::int64_t bytes_of(Count elements) {
  return elements * kBytesOfF32;
}

/// What a case asks for, and what it costs.
struct Plan : NodeAllReduce {
  explicit Plan(const Case& of)
      : NodeAllReduce(of), kase(of), algorithm(static_cast<Algorithm>(of.integer("algorithm"))) {
    Count n = of.integer("elements");
    for (Count i = 0; i < of.integer("sizes"); ++i, n *= of.integer("factor")) sizes.push_back(n);
  }

  const Case& kase;
  Algorithm algorithm;
  std::vector<Count> sizes;  ///< in elements
  bool takes_tree(Count n) const {
    return algorithm == Algorithm::choice ? tree_is_faster(n) : algorithm == Algorithm::tree;
  }
  /// The longest message of n elements, for which there must be room.
  Count longest_message(Count n) const { return takes_tree(n) ? n : part(n); }
};

/// The group in which the harness parts one size from the next one.
constexpr const char* kBetweenSizes = "sizes";

/// What the harness publishes of a size.
std::string name_of_data(Count elements) {
  return fmt::format("data of {} numbers", elements);
}

Numbers sum_over(const Case& kase, int first, int end, Count n) {
  Numbers sums(static_cast<std::size_t>(n));
  for (int rank = first; rank < end; ++rank) {
    const Numbers own = integers_of(kase, rank, n);
    std::transform(sums.begin(), sums.end(), own.begin(), sums.begin(), std::plus());
  }
  return sums;
}

/// The numbers of each rank as often as `times` says of it.
Numbers weighted_sum(const Case& kase, Count n, const std::function<int(int rank)>& times) {
  Numbers sums(static_cast<std::size_t>(n));
  for (int rank = 0; rank < kase.ranks; ++rank) {
    const Numbers own = integers_of(kase, rank, n);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<float>(times(rank)) * own[i];
  }
  return sums;
}

/// One size of a run, as the ranks have published it.
struct Found {
  const Plan& plan;
  Count n;
  std::vector<Numbers> by_rank;
  Numbers sums = sum_over(plan.kase, 0, plan.kase.ranks, n);

  /// Of every rank `holds` is true.
  bool all(auto holds) const {
    for (int rank = 0; rank < plan.kase.ranks; ++rank) {
      if (!holds(rank, by_rank[static_cast<std::size_t>(rank)])) return false;
    }
    return true;
  }
  /// The ranks that `chosen` names have the sums, and no other one has.
  bool complete_on(auto chosen) const {
    return all([&](int rank, const auto& values) { return (values == sums) == chosen(rank); });
  }
  /// How many times too large the numbers of all ranks are; nothing if that is not the same everywhere.
  std::optional<double> ratio() const {
    const auto doubles = [](const auto& values) { return Layers{{values.begin(), values.end()}}; };
    const std::optional<double> first = constant_ratio(doubles(by_rank[0]), doubles(sums));
    const auto same = [&](int, const auto& values) {
      return near(constant_ratio(doubles(values), doubles(sums)), *first);
    };
    return first && all(same) ? first : std::nullopt;
  }
  /// Every rank has its own part of the node's data complete, and no other one.
  bool own_parts_only() const {
    return all([&](int rank, const auto& values) {
      for (int i = 0; i < plan.k; ++i) {
        const Range part = part_of(n, plan.k, i);
        const bool complete =
            std::equal(sums.begin() + part.begin, sums.begin() + part.end, values.begin() + part.begin);
        if (part.size() > 0 && complete != (i == rank % plan.k)) return false;
      }
      return true;
    });
  }
};

/// Above the node's own tree a tree of all ranks was laid: it adds up again what every rank of a node has by then.
bool nodes_are_in_tree_of_all(const Found& found) {
  const int k = found.plan.k, ranks = found.plan.kase.ranks;
  const auto of_node = [&](int rank) { return std::min(k, ranks - rank / k * k); };
  // Where the node's sum was not handed out, each rank has that of its branch: of d below it in the tree d more.
  const auto branches = [&](int rank) { return 1 + std::popcount(static_cast<unsigned>(rank % k)); };
  const auto everywhere = [&](const Numbers& sums) {
    return found.all([&](int, const auto& values) { return values == sums; });
  };
  return k > 1 && (everywhere(weighted_sum(found.plan.kase, found.n, of_node)) ||
                   everywhere(weighted_sum(found.plan.kase, found.n, branches)));
}

/// Rank 0 has the sum of some of the ranks: of the first ones, or another rank's own numbers.
std::string mistake_at_root(const Found& found) {
  const int node = found.plan.k;
  for (int ranks = found.plan.kase.ranks - 1; ranks > 1; --ranks) {
    if (ranks == node) continue;  // its node is complete: then it is the nodes that do not meet
    if (found.by_rank[0] == sum_over(found.plan.kase, 0, ranks, found.n)) return "ranks_left_out";
  }
  for (int rank = 1; rank < found.plan.kase.ranks; ++rank) {
    if (found.by_rank[0] == integers_of(found.plan.kase, rank, found.n)) return "overwritten_by_message";
  }
  return "";
}

std::string mistake_in_sums(const Found& found) {
  const Plan& plan = found.plan;
  const int ranks = plan.kase.ranks;
  const auto is_number = [](float x) { return !std::isnan(x); };
  const auto all_numbers = [&](int, const auto& values) {
    return std::all_of(values.begin(), values.end(), is_number);
  };
  if (!found.all(all_numbers)) return "buffer_too_early";
  const std::optional<double> ratio = found.ratio();
  if (near(ratio, 1.0 / ranks)) return "divided_by_ranks";
  if (ratio && *ratio > 1.5 && near(ratio, std::round(*ratio))) return "counted_again";
  if (found.all([&](int rank, const auto& values) { return values == integers_of(plan.kase, rank, found.n); }))
    return "not_reduced";
  const Numbers of_rank_0 = integers_of(plan.kase, 0, found.n);
  // With one rank on each node, rank 0's numbers are the first node's sum, too.
  if (plan.k > 1 && found.all([&](int, const auto& values) { return values == of_rank_0; })) return "never_added";
  if (plan.algorithm == Algorithm::tree && nodes_are_in_tree_of_all(found)) return "counted_again";
  if (found.complete_on([](int rank) { return rank == 0; })) return "not_handed_out";
  if (found.complete_on([&](int rank) { return rank % plan.k == 0; })) return "leaders_only";
  if (found.complete_on([&](int rank) { return plan.node_of(rank) == 0; })) return "first_node_only";
  const auto of_node = [&](int rank, const auto& values) {
    const int first = rank / plan.k * plan.k;
    return values == sum_over(plan.kase, first, std::min(first + plan.k, ranks), found.n);
  };
  if (plan.nodes > 1 && found.all(of_node)) return "nodes_apart";
  if (plan.k > 1 && plan.algorithm == Algorithm::levels && found.own_parts_only()) return "parts_not_gathered";
  return mistake_at_root(found);
}

void diagnose_sums(CheckContext& check, const Plan& plan, std::size_t i) {
  const Output* output = check.output(name_of_data(plan.sizes[i]));
  if (output == nullptr || output->values.size() != static_cast<std::size_t>(plan.sizes[i])) return;
  std::vector<Numbers> by_rank = output->replicas;
  if (by_rank.empty()) by_rank.assign(static_cast<std::size_t>(check.ranks()), output->values);
  check.diagnose(mistake_in_sums({plan, plan.sizes[i], by_rank}));
}

/// The moments at which rank `rank` is done with a size and begins with the next one.
std::vector<Event> ends_of_sizes(const CheckContext& check, int rank) {
  std::vector<Event> ends = check.events(rank, EventKind::collective);
  const front::RankTrace& trace = check.trace(rank);
  std::erase_if(ends, [&](const Event& e) {
    return e.group < 0 || trace.groups.at(static_cast<std::size_t>(e.group)) != kBetweenSizes;
  });
  return ends;
}

/// All messages of a size, of each rank in its order.
std::vector<NodeMessage> messages_of(const CheckContext& check, const Plan& plan, std::size_t size) {
  std::vector<NodeMessage> messages;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const std::vector<Event> ends = ends_of_sizes(check, rank);
    for (const Event& e : check.events(rank, EventKind::send)) {
      const auto before = [&](const Event& end) { return end.order < e.order; };
      if (std::count_if(ends.begin(), ends.end(), before) != static_cast<std::ptrdiff_t>(size)) continue;
      messages.push_back({rank, e.peer, e.bytes.value(), e.posted, plan.node_of(rank) != plan.node_of(e.peer)});
    }
  }
  return messages;
}

/// A mistake in the way in which a tree is walked; up to three ranks make the same tree in all of these ways.
std::string mistake_of_tree_time(const CheckContext& check, const Plan& plan) {
  const std::optional<MessageTrees> trees = message_trees(check);
  if (!trees) return "";
  std::vector<int> all, node, leaders;
  for (int rank = 0; rank < plan.ranks; ++rank) {
    all.push_back(rank);
    if (plan.node_of(rank) == 0) node.push_back(rank);
    if (rank % plan.k == 0) leaders.push_back(rank);
  }
  for (const auto& members : {all, node, leaders}) {
    if (members.size() <= 3) continue;
    if (trees->up.is_star(members) || trees->down.is_star(members)) return "star_of_ranks";
    if (trees->up.is_chain(members) || trees->down.is_chain(members)) return "chain_of_ranks";
  }
  const auto hop = [&](int from, int to) {
    const Link link = plan.node_of(from) == plan.node_of(to) ? Link::intra_node : Link::inter_node;
    return plan.hop("size", plan.sizes[0], link).value();
  };
  const auto order_costs = [&](auto time, const MessageTree& tree) {
    return time(tree, hop, false) > time(tree, hop, true);
  };
  return order_costs(time_up, trees->up) || order_costs(time_down, trees->down) ? "order_of_children" : "";
}

std::string mistake_of_bytes(const CheckContext& check, const Plan& plan) {
  const std::vector<NodeMessage> messages = messages_of(check, plan, 0);
  if (plan.algorithm == Algorithm::tree) return mistake_in_tree(plan, plan.sizes[0], messages);
  return plan.algorithm == Algorithm::levels ? mistake_in_levels(plan, plan.sizes[0], messages) : SharedId();
}

/// By size: whether it went by the tree, in which whole data travel, or by levels, in which the longest messages are
/// parts. Nothing if a size went in a third way.
std::optional<std::vector<bool>> went_by_tree(const CheckContext& check, const Plan& plan) {
  std::vector<bool> tree;
  for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
    const Count n = plan.sizes[i];
    const std::int64_t longest = longest_of(messages_of(check, plan, i));
    tree.push_back(longest == bytes_of(n));
    if (!tree.back() && longest != bytes_of(plan.part(n))) return std::nullopt;
  }
  return tree;
}

/// On one node, or on nodes of one rank, the levels are a ring of all ranks, and so may a wrong tree be: there it is
/// certain only if whole data, which no ring passes on, travel where levels are faster.
std::string mistake_of_choice(const CheckContext& check, const Plan& plan) {
  const auto tree = went_by_tree(check, plan);
  if (!tree) return "";
  const std::string mistake = mistake_in_choice(plan, plan.sizes, *tree);
  const bool is_one_ring = plan.k == 1 || plan.nodes == 1;
  return is_one_ring && mistake != "changeover_too_high" ? "" : mistake;
}

/// For each size whether its run took longer than the faster one of the two does.
std::vector<bool> late_sizes(CheckContext& check, const Plan& plan) {
  std::vector<Nanos> marks = {Nanos(0)};
  for (const Event& end : ends_of_sizes(check, 0)) marks.push_back(end.end);
  marks.push_back(check.end_time(check.slowest_rank()));
  std::vector<bool> late;
  for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
    const Count n = plan.sizes[i];
    const auto budget = min(named("tree", plan.tree_time(n).value()), named("levels", plan.levels_time(n).value()));
    const Nanos took = marks.at(i + 1) - marks.at(i);
    late.push_back(took > budget.value());
    check.at_most(fmt::format("virtual time with {} bytes", bytes_of(n)), took, budget);
    if (late.back()) check.detail(fmt::format("too slow: {} bytes", bytes_of(n)));
  }
  return late;
}

void check_choice(CheckContext& check, const Plan& plan) {
  const std::vector<bool> late = late_sizes(check, plan);
  if (!check.failed()) return;
  const auto tree = went_by_tree(check, plan);
  for (std::size_t i = 0; tree && i < plan.sizes.size(); ++i) {
    if (late[i] != ((*tree)[i] != plan.tree_is_faster(plan.sizes[i]))) return;  // something else was slow
  }
  check.diagnose(mistake_of_choice(check, plan));
}

Bytes sent_over(const CheckContext& check, int rank, Link link) {
  Bytes bytes;
  for (const auto& [key, traffic] : check.counters(rank).traffic) bytes += key.link == link ? traffic.sent : Bytes(0);
  return bytes;
}

bool sends_its_share(CheckContext& check, const Plan& plan, int rank) {
  const Count n = plan.sizes[0];
  const std::string by = check.name_of(rank);
  return check.at_most("sent inside the node by " + by, sent_over(check, rank, Link::intra_node),
                       plan.sent_inside(n)) &&
         check.at_most("sent between nodes by " + by, sent_over(check, rank, Link::inter_node), plan.sent_between(n));
}

Bytes sent_by_all(const CheckContext& check, Link link) {
  Bytes bytes;
  for (int rank = 0; rank < check.ranks(); ++rank) bytes += sent_over(check, rank, link);
  return bytes;
}

Formula<Bytes> all_sizes(const Plan& plan) {
  return named(plan.sizes.size() > 1 ? "all sizes" : "size",
               Bytes(bytes_of(std::accumulate(plan.sizes.begin(), plan.sizes.end(), Count{0}))));
}

bool all_send_what_is_needed(CheckContext& check, const Plan& plan) {
  const Formula<Bytes> all = all_sizes(plan);
  return check.at_most("sent between nodes by all ranks", sent_by_all(check, Link::inter_node),
                       plan.all_between(all)) &&
         check.at_most("sent inside nodes by all ranks", sent_by_all(check, Link::intra_node), plan.all_inside(all));
}

/// Some rank, or all of them together, have sent more than they need.
bool too_much_sent(const CheckContext& check, const Plan& plan) {
  const Formula<Bytes> all = all_sizes(plan);
  if (sent_by_all(check, Link::inter_node) > plan.all_between(all).value() ||
      sent_by_all(check, Link::intra_node) > plan.all_inside(all).value()) {
    return true;
  }
  if (plan.algorithm != Algorithm::levels) return false;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (sent_over(check, rank, Link::intra_node) > plan.sent_inside(plan.sizes[0]).value() ||
        sent_over(check, rank, Link::inter_node) > plan.sent_between(plan.sizes[0]).value()) {
      return true;
    }
  }
  return false;
}

/// More memory than the data and a buffer as long as the longest message should be. Where messages are longer than
/// that, it is their mistake.
void diagnose_memory(CheckContext& check, const Plan& plan) {
  bool longer = false;
  for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
    longer = longer || longest_of(messages_of(check, plan, i)) > bytes_of(plan.longest_message(plan.sizes[i]));
  }
  if (!longer) return check.diagnose("large_buffer");
  check.diagnose(plan.algorithm == Algorithm::choice ? mistake_of_choice(check, plan) : mistake_of_bytes(check, plan));
}

}  // namespace

SHARDLINGS_CHECK(output) {
  if (!messages_only(check, kBetweenSizes)) return;
  const Plan plan(check.kase());
  for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
    const Numbers sums = sum_over(plan.kase, 0, check.ranks(), plan.sizes[i]);
    if (!check.identical(name_of_data(plan.sizes[i]), sums)) return diagnose_sums(check, plan, i);
  }
}

SHARDLINGS_CHECK(communication) {
  const Plan plan(check.kase());
  bool right = true;
  const int ranks = plan.algorithm == Algorithm::levels ? check.ranks() : 0;
  for (int rank = 0; rank < ranks && right; ++rank) right = sends_its_share(check, plan, rank);
  if (!right || !all_send_what_is_needed(check, plan)) check.diagnose(mistake_of_bytes(check, plan));
}

SHARDLINGS_CHECK(memory) {
  if (!nothing_on_host(check)) return;
  const Plan plan(check.kase());
  Count buffer = 0;
  for (const Count n : plan.sizes) buffer = std::max(buffer, plan.longest_message(n));
  const Formula<Bytes> data = named("data", all_sizes(plan).value());
  if (!check.peaks_at_most(data + named("buffer", Bytes(bytes_of(buffer))))) diagnose_memory(check, plan);
}

SHARDLINGS_CHECK(time) {
  const Plan plan(check.kase());
  if (plan.algorithm == Algorithm::choice) return check_choice(check, plan);
  const int rank = check.slowest_rank();
  const Count n = plan.sizes[0];
  const auto budget = plan.algorithm == Algorithm::tree ? plan.tree_time(n) : plan.levels_time(n);
  const Place where = check.place_of_last(rank, EventKind::recv);
  if (check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank), budget, where)) return;
  if (too_much_sent(check, plan)) return check.diagnose(mistake_of_bytes(check, plan));
  if (plan.algorithm == Algorithm::tree) check.diagnose(mistake_of_tree_time(check, plan));
}

// Judges all-reduces by trees and by levels: sums on every rank, bytes by class of link, the buffer, virtual time, and
// whether the faster one is taken.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <string>

#include "base/parts.h"
#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/training.h"
#include "grading/judge/predictions.h"

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
struct Plan {
  explicit Plan(const Case& of)
      : kase(of),
        k(std::min(of.cluster.ranks_per_node, of.ranks)),
        nodes((of.ranks + k - 1) / k),
        algorithm(static_cast<Algorithm>(of.integer("algorithm"))) {
    Count n = of.integer("elements");
    for (Count i = 0; i < of.integer("sizes"); ++i, n *= of.integer("factor")) sizes.push_back(n);
  }

  const Case& kase;
  int k, nodes;
  Algorithm algorithm;
  std::vector<Count> sizes;  ///< in elements
  int node_of(int rank) const { return rank / k; }
  Formula<Count> per_node() const { return named("k", Count(k)); }
  Formula<Count> num_nodes() const { return named("R", Count(nodes)); }

  /// A message on a link of this class.
  Formula<Nanos> hop(const std::string& what, Count elements, Link link) const {
    const front::LinkSpeed& speed = kase.cluster.links[static_cast<std::size_t>(link)];
    const std::string where = link == Link::intra_node ? "inside" : "between";
    const Nanos transfer(std::llround(static_cast<double>(bytes_of(elements)) / speed.bytes_per_second * 1e9));
    return named("alpha " + where, speed.latency) + named(what + " / W " + where, transfer);
  }
  Formula<Nanos> tree_time(Count n) const {
    const auto log2_up = [](int ranks) { return Count(std::bit_width(static_cast<unsigned>(ranks - 1))); };
    return 2 * (named("rounds inside", log2_up(k)) * hop("size", n, Link::intra_node) +
                named("rounds between", log2_up(nodes)) * hop("size", n, Link::inter_node));
  }
  Formula<Nanos> levels_time(Count n) const {
    const Count part = part_of(n, k, 0).size();
    return 2 * (per_node() - 1) * hop("part", part, Link::intra_node) +
           2 * (num_nodes() - 1) * hop("part/R", part_of(part, nodes, 0).size(), Link::inter_node);
  }
  bool tree_is_faster(Count n) const { return tree_time(n).value() < levels_time(n).value(); }
};

/// Sent by a rank around a ring of so many, there and back: twice all parts but one.
Formula<Bytes> ring_bytes(const Formula<Count>& ranks, const std::string& name, Count n) {
  const auto members = static_cast<int>(ranks.value());
  const Formula<Bytes> all = named(name, Bytes(bytes_of(n)));
  const Bytes shortest(bytes_of(part_of(n, members, members - 1).size()));
  return simplest(2 * share_of_others(ranks) * all, 2 * (all - named("shortest part of it", shortest)));
}

Numbers sum_over(const Case& kase, int first, int end, Count n) {
  Numbers sums(static_cast<std::size_t>(n));
  for (int rank = first; rank < end; ++rank) {
    const Numbers own = integers_of(kase, rank, n);
    std::transform(sums.begin(), sums.end(), own.begin(), sums.begin(), std::plus());
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
  /// How many times too large the numbers of rank 0 are; nothing if that is not the same everywhere.
  std::optional<double> ratio() const {
    const auto doubles = [](const auto& values) { return Layers{{values.begin(), values.end()}}; };
    return constant_ratio(doubles(by_rank[0]), doubles(sums));
  }
  /// Every rank has its own part of the node's data complete, and not the rest.
  bool own_parts_only() const {
    return all([&](int rank, const auto& values) {
      const Range part = part_of(n, plan.k, rank % plan.k);
      return values != sums &&
             std::equal(sums.begin() + part.begin, sums.begin() + part.end, values.begin() + part.begin);
    });
  }
};

/// Rank 0 has the sum of some of the ranks: of the first ones, or another rank's own numbers.
std::string mistake_at_root(const Found& found) {
  for (int ranks = found.plan.kase.ranks - 1; ranks > 1; --ranks) {
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
  const auto finite = [](float x) { return std::isfinite(x); };
  const auto all_finite = [&](int, const auto& values) { return std::all_of(values.begin(), values.end(), finite); };
  if (!found.all(all_finite)) return "buffer_too_early";
  const std::optional<double> ratio = found.ratio();
  if (near(ratio, 1.0 / ranks)) return "divided_by_ranks";
  if (ratio && *ratio > 1.5 && near(ratio, std::round(*ratio))) return "counted_again";
  if (found.all([&](int rank, const auto& values) { return values == integers_of(plan.kase, rank, found.n); }))
    return "not_reduced";
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
  const Output* output = check.output(fmt::format("data of size {}", i));
  if (output == nullptr || output->values.size() != static_cast<std::size_t>(plan.sizes[i])) return;
  std::vector<Numbers> by_rank = output->replicas;
  if (by_rank.empty()) by_rank.assign(static_cast<std::size_t>(check.ranks()), output->values);
  check.diagnose(mistake_in_sums({plan, plan.sizes[i], by_rank}));
}

struct Message {
  int from, to;
  std::int64_t bytes;
  Nanos posted;
  bool between = false;
};

/// All messages of a size, of each rank in its order.
std::vector<Message> messages_of(const CheckContext& check, const Plan& plan, std::size_t size) {
  std::vector<Message> messages;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const auto ends_of_sizes = check.events(rank, EventKind::collective);
    for (const Event& e : check.events(rank, EventKind::send)) {
      const auto before = [&](const Event& end) { return end.order < e.order; };
      if (std::count_if(ends_of_sizes.begin(), ends_of_sizes.end(), before) != static_cast<std::ptrdiff_t>(size))
        continue;
      messages.push_back({rank, e.peer, e.bytes.value(), e.posted, plan.node_of(rank) != plan.node_of(e.peer)});
    }
  }
  return messages;
}

/// A mistake in what crosses between nodes, or travels inside, of trees.
std::string mistake_of_tree_bytes(const Plan& plan, const std::vector<Message>& messages) {
  const auto exchanged = [&](const Message& m) {
    return std::any_of(messages.begin(), messages.end(), [&](const Message& other) {
      return m.from == other.to && m.to == other.from && m.posted == other.posted && m.bytes == bytes_of(plan.sizes[0]);
    });
  };
  if (std::any_of(messages.begin(), messages.end(), exchanged)) return "exchanged_in_pairs";
  bool of_others = false;
  for (const Message& m : messages) {
    if (m.between && m.from % plan.k != m.to % plan.k) return "tree_across_nodes";
    of_others = of_others || (m.between && m.from % plan.k != 0);
  }
  return of_others ? "every_rank_crosses" : "";
}

std::string mistake_of_level_bytes(const Plan& plan, const std::vector<Message>& messages) {
  const Count n = plan.sizes[0], part = part_of(n, plan.k, 0).size();
  const std::int64_t planned = 2 * (plan.nodes - 1) * bytes_of(n);
  std::set<int> crossing;  // ranks that send to other nodes
  std::int64_t longest_inside = 0, longest_between = 0, crossed = 0;
  for (const Message& m : messages) {
    std::int64_t& longest = m.between ? longest_between : longest_inside;
    longest = std::max(longest, m.bytes);
    crossed += m.between ? m.bytes : 0;
    if (m.between && m.bytes > 0) crossing.insert(m.from);
  }
  if (plan.k > 1 && part < n && longest_inside == bytes_of(n)) return "whole_data_inside";
  if (plan.k == 1 || plan.nodes == 1 || part < plan.nodes) return "";
  if (crossed == plan.k * planned) return "whole_data_between";
  const bool no_level = longest_inside == longest_between && crossed > planned;
  if (std::ssize(crossing) == plan.nodes) return no_level ? "flat_ring" : "one_port";
  return crossed == planned && longest_between == bytes_of(part) ? "parts_by_tree" : "";
}

/// A mistake in the way in which a tree is walked; up to three ranks make the same tree in all of these ways.
std::string mistake_of_tree_time(const Plan& plan, const std::vector<Message>& messages) {
  std::array<std::vector<int>, 2> children;         // of rank 0 inside and between, as it sends to them
  std::array<std::set<int>, 2> senders, receivers;  // to rank 0, and from it
  bool neighbours = true;
  for (const Message& m : messages) {
    if (m.to == 0) senders[m.between].insert(m.from);
    if (m.from == 0 && receivers[m.between].insert(m.to).second) children[m.between].push_back(m.to);
    neighbours = neighbours && std::abs(m.from - m.to) == (m.between ? plan.k : 1);
  }
  for (const std::size_t between : {0U, 1U}) {
    const std::ptrdiff_t others = (between == 1 ? plan.nodes : plan.k) - 1;
    if (others < 3) continue;
    if (std::ssize(senders[between]) == others || std::ssize(receivers[between]) == others) return "star_of_ranks";
    if (neighbours) return "chain_of_ranks";
    if (children[between].size() > 1 && std::ranges::is_sorted(children[between])) return "order_of_children";
  }
  return "";
}

std::string mistake_of_bytes(const CheckContext& check, const Plan& plan) {
  const std::vector<Message> messages = messages_of(check, plan, 0);
  if (plan.algorithm == Algorithm::tree) return mistake_of_tree_bytes(plan, messages);
  return plan.algorithm == Algorithm::levels ? mistake_of_level_bytes(plan, messages) : "";
}

/// What was wrong about the choice, if it is all that was wrong.
std::string mistake_of_choice(const CheckContext& check, const Plan& plan, const std::vector<bool>& late) {
  bool all_tree = true, all_levels = true, of_elements = true, only_choice = true;
  for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
    const auto messages = messages_of(check, plan, i);
    const bool tree = std::any_of(messages.begin(), messages.end(),
                                  [&](const Message& m) { return m.bytes == bytes_of(plan.sizes[i]); });
    all_tree = all_tree && tree;
    all_levels = all_levels && !tree;
    of_elements = of_elements && tree == plan.tree_is_faster(plan.sizes[i] / kBytesOfF32);
    only_choice = only_choice && late[i] == (tree != plan.tree_is_faster(plan.sizes[i]));
  }
  if (!only_choice) return "";
  if (all_tree || all_levels) return all_tree ? "always_tree" : "always_levels";
  return of_elements ? "elements_counted" : "slower_one_taken";
}

void check_choice(CheckContext& check, const Plan& plan) {
  std::vector<Nanos> marks = {Nanos(0)};
  for (const Event& end : check.events(0, EventKind::collective)) marks.push_back(end.end);
  marks.push_back(check.end_time(check.slowest_rank()));
  std::vector<bool> late;
  for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
    const Count n = plan.sizes[i];
    const auto budget = min(named("tree", plan.tree_time(n).value()), named("levels", plan.levels_time(n).value()));
    const Nanos took = marks[i + 1] - marks[i];
    late.push_back(took > budget.value());
    check.at_most(fmt::format("virtual time with {} bytes", bytes_of(n)), took, budget);
    if (late.back()) check.detail(fmt::format("too slow: {} bytes", bytes_of(n)));
  }
  if (check.failed()) check.diagnose(mistake_of_choice(check, plan, late));
}

/// A collective of the learner's own, if there was one: fails the check.
bool forbidden_call(CheckContext& check) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const front::RankTrace& trace = check.trace(rank);
    for (const Event& e : check.events(rank, EventKind::collective)) {
      if (e.group >= 0 && trace.groups.at(static_cast<std::size_t>(e.group)) == "sizes") continue;
      check.fail("send, recv, send_recv and their _async forms only",
                 fmt::format("{} called {}", check.name_of(rank), trace.names.at(e.name)), place_of(e));
      check.diagnose("built_in_collective");
      return true;
    }
  }
  return false;
}

Bytes sent_over(const CheckContext& check, int rank, Link link) {
  Bytes bytes;
  for (const auto& [key, traffic] : check.counters(rank).traffic) bytes += key.link == link ? traffic.sent : Bytes(0);
  return bytes;
}

bool sends_its_share(CheckContext& check, const Plan& plan, int rank) {
  const Count n = plan.sizes[0], part = part_of(n, plan.k, 0).size();
  const std::string by = check.name_of(rank);
  return check.at_most("sent inside the node by " + by, sent_over(check, rank, Link::intra_node),
                       ring_bytes(plan.per_node(), "size", n)) &&
         check.at_most("sent between nodes by " + by, sent_over(check, rank, Link::inter_node),
                       ring_bytes(plan.num_nodes(), "part", part));
}

bool all_send_what_is_needed(CheckContext& check, const Plan& plan) {
  Bytes inside, between;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    inside += sent_over(check, rank, Link::intra_node);
    between += sent_over(check, rank, Link::inter_node);
  }
  const Formula<Count> n = named("N", Count(check.ranks())), r = plan.num_nodes();
  const Formula<Bytes> all = named(plan.sizes.size() > 1 ? "all sizes" : "size",
                                   Bytes(bytes_of(std::accumulate(plan.sizes.begin(), plan.sizes.end(), Count{0}))));
  return check.at_most("sent between nodes by all ranks", between, 2 * (r - 1) * all) &&
         check.at_most("sent inside nodes by all ranks", inside, 2 * (n - r) * all);
}

/// The bytes for which both take the same time, where parts come out even: both times are straight lines then.
Bytes changeover(const Plan& plan) {
  const Count far = Count{1000} * plan.kase.ranks;
  const auto lead = [&](Count n) {
    return static_cast<double>((plan.levels_time(n).value() - plan.tree_time(n).value()).value());
  };
  return Bytes(std::llround(static_cast<double>(bytes_of(far)) * lead(0) / (lead(0) - lead(far))));
}

}  // namespace

SHARDLINGS_CHECK(output) {
  if (forbidden_call(check)) return;
  const Plan plan(check.kase());
  for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
    const Numbers sums = sum_over(plan.kase, 0, check.ranks(), plan.sizes[i]);
    if (!check.identical(fmt::format("data of size {}", i), sums)) return diagnose_sums(check, plan, i);
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
  Count all = 0, buffer = 0;
  for (const Count n : plan.sizes) {
    all += n;
    const bool tree = plan.algorithm == Algorithm::choice ? plan.tree_is_faster(n) : plan.algorithm == Algorithm::tree;
    buffer = std::max(buffer, tree ? n : part_of(n, plan.k, 0).size());
  }
  if (!check.peaks_at_most(named("data", Bytes(bytes_of(all))) + named("buffer", Bytes(bytes_of(buffer))))) {
    check.diagnose("large_buffer");
  }
}

SHARDLINGS_CHECK(time) {
  const Plan plan(check.kase());
  if (plan.algorithm == Algorithm::choice) return check_choice(check, plan);
  const int rank = check.slowest_rank();
  const Count n = plan.sizes[0];
  const auto budget = plan.algorithm == Algorithm::tree ? plan.tree_time(n) : plan.levels_time(n);
  const Place where = check.place_of_last(rank, EventKind::recv);
  if (check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank), budget, where)) return;
  check.diagnose(mistake_of_bytes(check, plan));
  if (plan.algorithm == Algorithm::tree) check.diagnose(mistake_of_tree_time(plan, messages_of(check, plan, 0)));
}

SHARDLINGS_PREDICTIONS("levels, 5 nodes of 3") {
  const Plan plan(predict.kase());
  const Count n = plan.sizes[0];
  const Formula<Bytes> size = named("size", Bytes(bytes_of(n))), part = named("part", Bytes(bytes_of(n / plan.k)));
  const Formula<Count> r = plan.num_nodes(), all = named("N", Count(plan.kase.ranks));
  predict
      .number("between", "How many bytes does rank 0 send to other nodes?", 2 * share_of_others(r) * part,
              Question::Of::sent_out, 0)
      .unlike(2 * share_of_others(r) * size, "Only rank 0's part crosses from rank 0.")
      .unlike(share_of_others(r) * part, "That is one half of the ring between the nodes.")
      .unlike(2 * share_of_others(all) * size, "That is one ring over all ranks, which takes no notice of nodes.");
  predict.end("levels", "When do all ranks have all sums, by levels?", plan.levels_time(n))
      .unlike(plan.levels_time(n) / 2, "That is one half: adding up, or handing out.");
  predict.number("tree", "How long would the tree take for the same data?", plan.tree_time(n))
      .unlike(plan.tree_time(n) / 2, "That is one way: up to the root, or down again.");
  predict
      .number("changeover", "At how many bytes do both take the same time, if parts come out even?",
              named("changeover", changeover(plan)))
      .unlike(named("elements", Bytes(changeover(plan).value() / kBytesOfF32)), "Those are elements, of 4 bytes each.");
}

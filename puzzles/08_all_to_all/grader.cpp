// Judges a pairwise all-to-all and a broadcast in chunks: what every rank has, bytes of each rank, virtual time,
// memory.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "base/parts.h"
#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/messages.h"
#include "grading/formulas/training.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Event, front::EventKind;

namespace {

using Numbers = std::vector<float>;

/// What a case asks for, and what it costs.
struct Plan {
  explicit Plan(const Case& of)
      : kase(of),
        elements(of.integer("elements")),
        groups(static_cast<int>(of.integer("groups"))),
        members(of.ranks / groups),
        root(static_cast<int>(of.integer("root"))),
        is_broadcast(of.integer("broadcast") != 0) {}

  const Case& kase;
  Count elements;
  int groups;
  int members;  ///< N: ranks of a group
  int root;     ///< of a broadcast, as its group counts
  bool is_broadcast;

  /// Number of a rank of the world in its group, and back: member `member` of the group that `rank` is in.
  int member_of(int rank) const { return rank / groups; }
  int world_rank(int member, int rank) const { return member * groups + rank % groups; }
  Range part(int member) const { return part_of(elements, members, member); }
  Count row() const { return is_broadcast ? elements : members * part(0).size(); }
  Numbers numbers_of(int member, int rank) const { return integers_of(kase, world_rank(member, rank), elements); }

  Formula<Count> n() const { return named("N", Count(members)); }
  Formula<Bytes> size() const { return named("size", Bytes(elements * kBytesOfF32)); }
  Nanos alpha() const { return kase.cluster.links.front().latency; }
  Formula<Nanos> message(const char* what, Count of_elements) const {
    return named("alpha", alpha()) + named(fmt::format("{} / W", what), transfer_time(kase, of_elements));
  }
  Formula<Nanos> exchange_time() const { return (n() - 1) * message("longest part", part(0).size()); }
  /// Of a broadcast in q chunks.
  Formula<Nanos> chain_time(Count q) const {
    if (members == 1) return Nanos(0);
    return (n() - 2 + named("q", q)) * message("chunk", part_of(elements, static_cast<int>(q), 0).size());
  }
  Count best_chunks() const {
    Count best = 1;
    for (Count q = 2; q <= elements; ++q) {
      if (chain_time(q).value() < chain_time(best).value()) best = q;
    }
    return best;
  }
};

/// Which part of whose numbers a rank should have, or has by mistake, at place `block` of its output.
struct Block {
  int sender;
  int part;
};

/// The output of a rank whose blocks come from where `rule` says; nothing if they have not the length that is right.
Numbers exchanged(const Plan& plan, int rank, auto rule) {
  Numbers row(static_cast<std::size_t>(plan.row()));
  const Count length = plan.part(plan.member_of(rank)).size();
  for (int block = 0; block < plan.members; ++block) {
    const Block from = rule(plan.member_of(rank), block);
    const Range part = plan.part((from.part % plan.members + plan.members) % plan.members);
    if (part.size() != length) return {};
    const Numbers own = plan.numbers_of((from.sender % plan.members + plan.members) % plan.members, rank);
    std::copy(own.begin() + part.begin, own.begin() + part.end, row.begin() + block * length);
  }
  return row;
}

Numbers expected_row(const Plan& plan, int rank) {
  if (plan.is_broadcast) return plan.numbers_of(plan.root, rank);
  return exchanged(plan, rank, [](int me, int block) { return Block{block, me}; });
}

/// What each rank has published.
struct Found {
  const Plan& plan;
  const Numbers& values;

  Numbers row(int rank) const { return {values.begin() + rank * plan.row(), values.begin() + (rank + 1) * plan.row()}; }
  bool all(auto holds) const {
    for (int rank = 0; rank < plan.kase.ranks; ++rank) {
      if (!holds(rank, row(rank))) return false;
    }
    return true;
  }
  bool follows(auto rule) const {
    return all([&](int rank, const Numbers& own) { return own == exchanged(plan, rank, rule); });
  }
  /// Where rank `rank` should have the numbers of others, it has nothing at `missing(me)` only, and what is right
  /// elsewhere.
  bool lacks(auto missing) const {
    return all([&](int rank, const Numbers& own) {
      const int me = plan.member_of(rank);
      const Numbers right = expected_row(plan, rank);
      const Count length = plan.part(me).size();
      for (Count i = 0; i < plan.row(); ++i) {
        const bool hole = length > 0 && i / length == missing(me) && i < length * plan.members;
        const auto at = static_cast<std::size_t>(i);
        if (hole ? !std::isnan(own[at]) : own[at] != right[at]) return false;
      }
      return true;
    });
  }
};

/// Every rank sends so many messages.
bool all_send(const CheckContext& check, std::ptrdiff_t messages) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (std::ssize(check.events(rank, EventKind::send)) != messages) return false;
  }
  return true;
}

std::string mistake_in_exchange(const CheckContext& check, const Found& found) {
  const int n = found.plan.members;
  if (found.lacks([](int me) { return me; })) return "own_part_missing";
  const bool from_next = found.lacks([&](int me) { return (me + 1) % n; }),
             from_last = found.lacks([&](int me) { return (me + n - 1) % n; });
  if (all_send(check, n - 2) && (from_next || from_last)) return "one_step_missing";
  if (n > 2 && (found.follows([](int me, int block) {
        return Block{me - block, me};
      }) || found.follows([](int me, int block) {
        return Block{me + block, me};
      })))
    return "stored_by_step";
  if (found.follows([](int me, int block) { return Block{block, block == me ? me : me - block}; }))
    return "part_of_the_step";
  if (found.follows([](int, int block) { return Block{block, block}; })) return "own_part_to_all";
  return "";
}

std::string mistake_in_broadcast(const Found& found) {
  const Plan& plan = found.plan;
  const auto has_numbers_of = [&](auto member) {
    return found.all([&](int rank, const Numbers& own) { return own == plan.numbers_of(member(rank), rank); });
  };
  if (has_numbers_of([&](int rank) { return plan.member_of(rank); })) return "nothing_sent";
  if (plan.root != 0 && has_numbers_of([](int) { return 0; })) return "root_ignored";
  std::set<std::ptrdiff_t> right_so_far;  // of all ranks but the root, how many of the first elements are right
  found.all([&](int rank, const Numbers& own) {
    const Numbers right = expected_row(plan, rank), before = plan.numbers_of(plan.member_of(rank), rank);
    const auto end = std::mismatch(own.begin(), own.end(), right.begin()).first - own.begin();
    const bool rest_untouched = std::equal(own.begin() + end, own.end(), before.begin() + end);
    if (plan.member_of(rank) != plan.root) right_so_far.insert(rest_untouched ? end : -1);
    return true;
  });
  // An untouched element may be equal by chance to what it should be: so the ends may lie a little apart.
  constexpr std::ptrdiff_t kByChance = 3;
  if (right_so_far.empty()) return "";
  const bool same_end = *right_so_far.rbegin() - *right_so_far.begin() <= kByChance;
  return *right_so_far.begin() > 0 && same_end ? "rest_of_chunks_lost" : "";
}

std::string mistake_in_output(const CheckContext& check, const Plan& plan) {
  const Output* output = check.output("result by rank");
  if (output == nullptr || std::ssize(output->values) != plan.kase.ranks * plan.row()) return "";
  const Found found{plan, output->values};
  return plan.is_broadcast ? mistake_in_broadcast(found) : mistake_in_exchange(check, found);
}

std::int64_t sent_by(const CheckContext& check, int rank) {
  return check.counters(rank).bytes_sent().value();
}

/// The members that a rank sends to, in the order of its messages.
std::vector<int> addressed_by(const CheckContext& check, const Plan& plan, int rank) {
  std::vector<int> members;
  for (const Event& send : check.events(rank, EventKind::send)) members.push_back(plan.member_of(send.peer));
  return members;
}

/// There are messages, and while a rank sends one it never receives another one.
bool in_turn(const CheckContext& check) {
  if (check.events(0, EventKind::send).empty()) return false;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const auto receives = check.events(rank, EventKind::recv);
    for (const Event& send : check.events(rank, EventKind::send)) {
      const auto together = [&](const Event& receive) { return receive.begin < send.end && send.begin < receive.end; };
      if (std::any_of(receives.begin(), receives.end(), together)) return false;
    }
  }
  return true;
}

/// A mistake in who sends to whom, where some rank sends too many bytes.
std::string mistake_of_exchange(const CheckContext& check, const Plan& plan) {
  bool to_next = plan.members > 3, to_prev = to_next;
  std::set<std::size_t> counts;
  std::int64_t longest = 0;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const std::vector<int> peers = addressed_by(check, plan, rank);
    const std::set<int> addressed(peers.begin(), peers.end());
    const int me = plan.member_of(rank);
    to_next = to_next && addressed == std::set<int>{(me + 1) % plan.members};
    to_prev = to_prev && addressed == std::set<int>{(me + plan.members - 1) % plan.members};
    counts.insert(peers.size());
    for (const Event& send : check.events(rank, EventKind::send)) longest = std::max(longest, send.bytes.value());
  }
  if (*counts.rbegin() >= 2 * *counts.begin() && counts.size() > 1) return "through_one_rank";
  if (to_next || to_prev) return "passed_on_by_neighbours";
  return plan.members > 2 && longest == plan.elements * kBytesOfF32 ? "whole_input_sent" : "";
}

/// A mistake in when parts are sent, all of which are those that should be. Three ranks are too few to tell orders
/// apart.
std::string mistake_of_order(const CheckContext& check, const Plan& plan) {
  bool upwards = plan.members > 3, downwards = upwards, by_xor = upwards;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const int me = plan.member_of(rank);
    std::vector<int> others, partners;
    for (int member = 0; member < plan.members; ++member) {
      if (member != me) others.push_back(member);
    }
    for (int s = 1; s < 2 * plan.members; ++s) {
      if ((me ^ s) < plan.members && std::ssize(partners) < plan.members - 1) partners.push_back(me ^ s);
    }
    const std::vector<int> found = addressed_by(check, plan, rank);
    const std::vector<int> reversed(others.rbegin(), others.rend());
    upwards = upwards && found == others;
    downwards = downwards && found == reversed;
    by_xor = by_xor && found == partners;
  }
  if (upwards || downwards) return "same_order_on_all_ranks";
  if (by_xor) return "partners_by_xor";
  return plan.members > 2 && in_turn(check) ? "send_and_receive_in_turn" : "";
}

/// Each rank sends to one other rank, and in this way the data come from the root to all.
bool is_chain(const CheckContext& check, const Plan& plan) {
  for (int first = 0; first < plan.groups; ++first) {
    int member = plan.root;
    for (int reached = 1; reached < plan.members; ++reached) {
      const std::vector<int> peers = addressed_by(check, plan, plan.world_rank(member, first));
      if (std::set<int>(peers.begin(), peers.end()).size() != 1) return false;
      member = peers.front();
    }
    if (!addressed_by(check, plan, plan.world_rank(member, first)).empty()) return false;
  }
  return true;
}

/// A mistake in who sends the data to whom, where some rank sends them more than once.
std::string mistake_of_broadcast(const CheckContext& check, const Plan& plan) {
  const int root = plan.world_rank(plan.root, 0);
  const std::vector<int> peers = addressed_by(check, plan, root);
  const auto children = std::ssize(std::set<int>(peers.begin(), peers.end()));
  if (sent_by(check, root) != children * plan.elements * kBytesOfF32 || children < 2) return "";
  return children > 2 && children == plan.members - 1 ? "root_sends_to_all" : "sent_down_a_tree";
}

/// A mistake in how a chain passes the data on.
std::string mistake_of_chunks(const CheckContext& check, const Plan& plan) {
  if (plan.members < 2 || !is_chain(check, plan)) return "";
  const auto q = std::ssize(addressed_by(check, plan, plan.world_rank(plan.root, 0)));
  if (q == 1) return plan.best_chunks() > 1 ? "not_in_chunks" : "";
  if (check.end_time(check.slowest_rank()) <= plan.chain_time(q).value()) {
    return q < plan.best_chunks() ? "too_few_chunks" : "too_many_chunks";
  }
  return plan.members > 2 && in_turn(check) ? "send_and_receive_in_turn" : "";
}

/// What a rank may send.
Formula<Bytes> sent_budget(const Plan& plan, int rank) {
  const Formula<Bytes> own = named("own part", Bytes(plan.part(plan.member_of(rank)).size() * kBytesOfF32));
  return plan.is_broadcast ? plan.size() : simplest(share_of_others(plan.n()) * plan.size(), plan.size() - own);
}

bool too_much_sent(const CheckContext& check, const Plan& plan) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (sent_by(check, rank) > sent_budget(plan, rank).value().value()) return true;
  }
  return false;
}

/// A mistake in who sends to whom, if there is too much of it.
std::string mistake_of_bytes(const CheckContext& check, const Plan& plan) {
  if (!too_much_sent(check, plan)) return "";
  return plan.is_broadcast ? mistake_of_broadcast(check, plan) : mistake_of_exchange(check, plan);
}

/// 3 % more than the best number of chunks takes.
Formula<Nanos> broadcast_budget(const Plan& plan) {
  return and_percent(plan.chain_time(plan.best_chunks()), 3, "best q: ");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  if (!messages_only(check)) return;
  const Plan plan(check.kase());
  Numbers rows;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Numbers row = expected_row(plan, rank);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  if (check.identical("result by rank", rows)) return;
  check.detail("row r is what rank r has afterwards");
  check.diagnose(mistake_in_output(check, plan));
}

SHARDLINGS_CHECK(communication) {
  const Plan plan(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (check.at_most("sent by " + check.name_of(rank), Bytes(sent_by(check, rank)), sent_budget(plan, rank),
                      check.place_of_last(rank, EventKind::send))) {
      continue;
    }
    return check.diagnose(mistake_of_bytes(check, plan));
  }
}

SHARDLINGS_CHECK(time) {
  const Plan plan(check.kase());
  const int rank = check.slowest_rank();
  const Formula<Nanos> budget = plan.is_broadcast ? broadcast_budget(plan) : plan.exchange_time();
  if (check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank), budget,
                    check.place_of_last(rank, EventKind::recv))) {
    return;
  }
  if (too_much_sent(check, plan)) return check.diagnose(mistake_of_bytes(check, plan));
  check.diagnose(plan.is_broadcast ? mistake_of_chunks(check, plan) : mistake_of_order(check, plan));
}

SHARDLINGS_CHECK(memory) {
  if (!nothing_on_host(check)) return;
  const Plan plan(check.kase());
  const Formula<Bytes> in = named(plan.is_broadcast ? "data" : "in", plan.size().value());
  const Bytes longest_out(plan.members * plan.part(0).size() * kBytesOfF32);
  if (check.peaks_at_most(plan.is_broadcast ? in : in + named("out", longest_out))) return;
  // What a rank sends on for others needs room, and is no mistake of its own.
  const std::string of_bytes = mistake_of_bytes(check, plan);
  check.diagnose(of_bytes.empty() ? "large_buffer" : of_bytes);
}

SHARDLINGS_PREDICTIONS("broadcast, 5 ranks") {
  const Plan plan(predict.kase());
  const Count best = plan.best_chunks();
  const Formula<Bytes> others = share_of_others(plan.n()) * plan.size();
  const Formula<Count> fastest =
      named("the q with the smallest (N-2 + q) (alpha + size / (q W)), near sqrt((N-2) size / (W alpha))", best);
  predict.count("chunks", "With how many chunks is the broadcast fastest?", fastest, "chunks")
      .unlike(named("q", Count(std::llround(std::sqrt(transfer_time(plan.kase, plan.elements) / plan.alpha())))),
              "That leaves the chain out: N-2 ranks must pass on before the last one gets anything.");
  predict.end("broadcast", "When does the last rank have the last chunk, then?", plan.chain_time(best))
      .unlike(plan.chain_time(1), "That is the data in one piece.");
  predict.number("whole", "How long would the chain take with the data in one piece?", plan.chain_time(1))
      .unlike(plan.n() * plan.message("size", plan.elements), "N ranks in a chain pass the data on N-1 times.");
  predict.number("exchange", "How many bytes does each rank send in an all-to-all of so much data?", others)
      .unlike(plan.size(), "A rank keeps the part that is for itself.")
      .unlike(plan.size() / plan.n(), "That is one message, and there is one for each other rank.");
}

// Judges a ring all-reduce: sums on every rank, bytes of each rank, the buffer, virtual time.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "base/parts.h"
#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/ring_cost.h"
#include "grading/formulas/training.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::EventKind;

namespace {

/// By rank: what it holds.
using Replicas = std::vector<std::vector<float>>;

/// A ring all-reduce with a mistake in it. The right one has none of these.
struct Mistake {
  const char* diagnosis;
  int reduce_steps_missing = 0;
  int gather_steps_missing = 0;
  int added_to = 0;       ///< what arrives is added to the part that is so many further
  int gather_begins = 0;  ///< the second half begins with the part that is so many further
  int stored_in = 0;      ///< what arrives in the second half is stored in the part that is so many further
  bool gather_adds = false;
  bool overwrites = false;  ///< what arrives in the first half replaces instead of being added
};

constexpr Mistake kMistakes[] = {
    {.diagnosis = "gather_missing", .gather_steps_missing = 100},
    {.diagnosis = "gather_step_missing", .gather_steps_missing = 1},
    {.diagnosis = "reduce_step_missing", .reduce_steps_missing = 1},
    {.diagnosis = "wrong_part", .added_to = 1},
    {.diagnosis = "wrong_part", .added_to = -1},
    {.diagnosis = "wrong_part", .added_to = 1, .stored_in = 1},
    {.diagnosis = "wrong_part", .added_to = -1, .stored_in = -1},
    {.diagnosis = "stored_in_wrong_part", .stored_in = 1},
    {.diagnosis = "stored_in_wrong_part", .stored_in = -1},
    {.diagnosis = "wrong_start_of_gather", .gather_begins = -1},
    {.diagnosis = "wrong_start_of_gather", .gather_begins = 1},
    {.diagnosis = "added_in_gather", .gather_adds = true},
    {.diagnosis = "overwritten", .overwrites = true},
};

/// Two things that a learner is free to choose.
struct Ring {
  int direction;  ///< 1: to the next rank, -1: to the one before
  int first;      ///< rank r begins by sending part r + first, counted in the ring's direction
};

constexpr Ring kRings[] = {{1, 0}, {-1, 0}, {1, -1}, {-1, -1}};  // the likely ones first

/// One step of a ring: every rank sends its part `sent` (of a rank), and its neighbour takes it for its part `taken`.
/// False if such parts have different lengths.
bool pass_on(Replicas& replicas, const Ring& ring, auto sent, auto taken, bool adds) {
  const int n = static_cast<int>(replicas.size());
  const auto count = static_cast<Count>(replicas.front().size());
  // In the other direction ranks and parts are counted backwards.
  const auto part = [&](int i) { return part_of(count, n, ((ring.direction * i % n) + n) % n); };
  const auto rank_of = [&](int i) { return static_cast<std::size_t>(((ring.direction * i % n) + n) % n); };
  const Replicas before = replicas;
  for (int i = 0; i < n; ++i) {
    const Range from = part(sent(i));
    const Range to = part(taken(i + 1));
    if (from.size() != to.size()) return false;
    for (Count k = 0; k < from.size(); ++k) {
      float& element = replicas[rank_of(i + 1)][static_cast<std::size_t>(to.begin + k)];
      const float arrived = before[rank_of(i)][static_cast<std::size_t>(from.begin + k)];
      element = adds ? element + arrived : arrived;
    }
  }
  return true;
}

/// What the ranks hold after a ring with this mistake; nothing if it cannot run with these lengths.
Replicas with_mistake(Replicas replicas, const Ring& ring, const Mistake& mistake) {
  const int n = static_cast<int>(replicas.size());
  for (int s = 0; s < n - 1 - mistake.reduce_steps_missing; ++s) {
    const int begin = ring.first - s;
    const auto sent = [&](int i) { return i + begin; };
    const auto summed = [&](int i) { return i + begin - 1 + mistake.added_to; };
    if (!pass_on(replicas, ring, sent, summed, !mistake.overwrites)) return {};
  }
  for (int s = 0; s < n - 1 - mistake.gather_steps_missing; ++s) {
    const int begin = ring.first + 1 - s + mistake.gather_begins;
    const auto sent = [&](int i) { return i + begin; };
    const auto filled = [&](int i) { return i + begin - 1 + mistake.stored_in; };
    if (!pass_on(replicas, ring, sent, filled, mistake.gather_adds)) return {};
  }
  return replicas;
}

Replicas own_numbers(const Case& kase) {
  Replicas replicas;
  for (int rank = 0; rank < kase.ranks; ++rank) replicas.push_back(integers_of(kase, rank, RingCost(kase).elements));
  return replicas;
}

/// The sums of the group that begins with rank `first`.
std::vector<float> sums_of(const Case& kase, int first = 0) {
  std::vector<float> sums(static_cast<std::size_t>(RingCost(kase).elements));
  const Replicas own = own_numbers(kase);
  for (auto rank = static_cast<std::size_t>(first); rank < own.size();
       rank += static_cast<std::size_t>(RingCost(kase).groups)) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += own[rank][i];
  }
  return sums;
}

/// What the ranks have published; nothing if not all of them have.
Replicas numbers_found(const CheckContext& check) {
  const Output* output = check.output("data");
  if (output == nullptr || output->values.size() != static_cast<std::size_t>(RingCost(check.kase()).elements))
    return {};
  if (!output->replicas.empty()) return output->replicas;
  return Replicas(static_cast<std::size_t>(check.ranks()), output->values);  // all ranks have the same
}

bool some_not_finite(const Replicas& found) {
  return std::any_of(found.begin(), found.end(), [](const std::vector<float>& values) {
    return std::any_of(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  });
}

/// Every element is the sum divided by N.
bool divided(const Replicas& found, const std::vector<float>& sums) {
  const auto n = static_cast<float>(found.size());
  return std::all_of(found.begin(), found.end(), [&](const std::vector<float>& values) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (!(std::abs(values[i] * n - sums[i]) < 1e-3F)) return false;
    }
    return true;
  });
}

/// The first `count` elements are sums, the others have stayed what they were.
bool only_first_summed(const Replicas& found, const Replicas& own, const std::vector<float>& sums, Count count) {
  for (std::size_t rank = 0; rank < found.size(); ++rank) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (found[rank][i] != (static_cast<Count>(i) < count ? sums[i] : own[rank][i])) return false;
    }
  }
  return true;
}

/// Which parts of each rank are complete: "rank 0: 0 1 . 3".
void show_complete_parts(CheckContext& check, const Replicas& found, const std::vector<float>& sums) {
  bool any = false;
  std::vector<std::string> lines = {"parts that are complete (a dot: not):"};
  for (std::size_t rank = 0; rank < found.size(); ++rank) {
    lines.push_back(fmt::format("  rank {}:", rank));
    for (int i = 0; i < check.ranks(); ++i) {
      const Range part = part_of(static_cast<Count>(sums.size()), check.ranks(), i);
      if (part.size() == 0) continue;
      const auto at = [&](const std::vector<float>& values, Count k) { return values.begin() + k; };
      const bool complete = std::equal(at(sums, part.begin), at(sums, part.end), at(found[rank], part.begin));
      lines.back() += complete ? fmt::format(" {}", i) : " .";
      any = any || complete;
    }
  }
  if (!any) lines = {"in the end no rank has a complete part"};
  for (const std::string& line : lines) check.detail(line);
}

/// The mistake leaves these numbers behind, after so many messages of each rank.
bool explains(const Mistake& mistake, const Ring& ring, const Replicas& own, const Replicas& found,
              std::size_t messages) {
  const int steps = static_cast<int>(own.size()) - 1;
  const int reducing = std::max(0, steps - mistake.reduce_steps_missing);
  const int gathering = std::max(0, steps - mistake.gather_steps_missing);
  return messages == static_cast<std::size_t>(reducing + gathering) && found == with_mistake(own, ring, mistake);
}

/// No rank has added anything: what arrived was stored as it was.
bool nothing_added(const CheckContext& check) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!check.events(rank, EventKind::operation).empty()) return false;
  }
  return true;
}

void diagnose_output(CheckContext& check) {
  const Case& kase = check.kase();
  const std::vector<float> sums = sums_of(kase);
  const Replicas own = own_numbers(kase);
  const Replicas found = numbers_found(check);
  if (found.empty()) return;
  show_complete_parts(check, found, sums);
  if (some_not_finite(found)) return check.diagnose("buffer_too_early");
  if (divided(found, sums)) return check.diagnose("divided");
  const Count n = RingCost(kase).elements;
  if (n % kase.ranks != 0 && only_first_summed(found, own, sums, n - n % kase.ranks)) {
    return check.diagnose("remainder_lost");
  }
  if (found == own) return check.diagnose("not_reduced");
  const auto sends = check.events(0, EventKind::send);
  if (sends.empty()) return;
  for (const Ring& ring : kRings) {
    if (own.size() > 2 && (sends.front().peer == 1) != (ring.direction == 1)) continue;
    std::set<std::string> mistakes;  // few ranks or elements: several may leave the same numbers
    for (const Mistake& mistake : kMistakes) {
      if (mistake.overwrites == nothing_added(check) && explains(mistake, ring, own, found, sends.size()))
        mistakes.insert(mistake.diagnosis);
    }
    if (mistakes.size() == 1) check.diagnose(*mistakes.begin());
    if (!mistakes.empty()) return;
  }
}

/// Bytes of all messages.
std::vector<std::int64_t> messages_of(const CheckContext& check) {
  std::vector<std::int64_t> messages;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    for (const front::Event& event : check.events(rank, EventKind::send)) messages.push_back(event.bytes.value());
  }
  return messages;
}

std::int64_t sent_by(const CheckContext& check, int rank) {
  return check.counters(rank).bytes_sent().value();
}

std::int64_t sent_by_all(const CheckContext& check) {
  std::int64_t sum = 0;
  for (int rank = 0; rank < check.ranks(); ++rank) sum += sent_by(check, rank);
  return sum;
}

/// Every rank sends as many messages as any other, as in a ring.
bool all_send_as_often(const CheckContext& check) {
  const std::size_t messages = check.events(0, EventKind::send).size();
  for (int rank = 1; rank < check.ranks(); ++rank) {
    if (check.events(rank, EventKind::send).size() != messages) return false;
  }
  return true;
}

/// Names a mistake in what was sent. False if there is none to be seen.
bool diagnose_messages(CheckContext& check) {
  const std::vector<std::int64_t> messages = messages_of(check);
  if (messages.empty()) return false;
  const auto [shortest, longest] = std::minmax_element(messages.begin(), messages.end());
  const RingCost cost(check.kase());
  const std::int64_t steps = cost.steps * check.ranks(), planned = cost.groups * cost.steps * cost.size;
  if (!all_send_as_often(check)) {
    check.diagnose("through_one_rank");
  } else if (*longest > cost.longest_part) {
    check.diagnose(*shortest < cost.size ? "uneven_parts" : "whole_tensor");
  } else if (static_cast<std::int64_t>(messages.size()) <= steps) {
    return false;
  } else {
    check.diagnose(sent_by_all(check) == planned ? "parts_in_pieces" : "one_step_too_many");
  }
  return true;
}

/// There are messages, and no rank ever receives at the moment at which it sends.
bool in_turn(const CheckContext& check) {
  if (messages_of(check).empty()) return false;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const auto receives = check.events(rank, EventKind::recv);
    for (const front::Event& send : check.events(rank, EventKind::send)) {
      const auto together = [&](const front::Event& receive) { return receive.posted == send.posted; };
      if (std::any_of(receives.begin(), receives.end(), together)) return false;
    }
  }
  return true;
}

/// The first message that a rank sends later than a ring does; the last one if none is.
Place place_of_late(const CheckContext& check, int rank, Nanos step) {
  Nanos planned(0);
  for (const front::Event& send : check.events(rank, EventKind::send)) {
    if (send.begin > planned) return place_of(send);
    planned += step;
  }
  return check.place_of_last(rank, EventKind::recv);
}

}  // namespace

SHARDLINGS_CHECK(output) {
  if (!messages_only(check)) return;
  const Case& kase = check.kase();
  if (RingCost(kase).groups == 1) {
    if (!check.identical("data", sums_of(kase))) diagnose_output(check);
    return;
  }
  std::vector<float> sums;
  for (int rank = 0; rank < kase.ranks; ++rank) {
    const std::vector<float> of_group = sums_of(kase, rank % RingCost(kase).groups);
    sums.insert(sums.end(), of_group.begin(), of_group.end());
  }
  if (!check.identical("data by rank", sums)) {
    check.detail(
        fmt::format("row r is the data of rank r, which is in a group with the ranks whose remainder modulo {} is r's",
                    RingCost(kase).groups));
  }
}

SHARDLINGS_CHECK(communication) {
  const RingCost cost(check.kase());
  int most = 0;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (sent_by(check, rank) > sent_by(check, most)) most = rank;
  }
  const Place where = place_beyond(check, most, EventKind::send, cost.steps);
  const Formula<Bytes> ring = 2 * (cost.n() - 1) * named("size", Bytes(cost.size));
  if (!check.at_most("sent by " + check.name_of(most), Bytes(sent_by(check, most)), cost.sent(), where) ||
      !check.exactly("sent by all ranks", Bytes(sent_by_all(check)),
                     cost.groups == 1 ? ring : named("groups", cost.groups) * ring, where)) {
    diagnose_messages(check);
    return;
  }
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const auto messages = static_cast<Count>(check.events(rank, EventKind::send).size());
    if (check.at_most("messages sent by " + check.name_of(rank), messages, 2 * (cost.n() - 1), "messages",
                      place_beyond(check, rank, EventKind::send, cost.steps))) {
      continue;
    }
    diagnose_messages(check);
    return;
  }
}

SHARDLINGS_CHECK(memory) {
  if (!nothing_on_host(check)) return;
  if (!check.peaks_at_most(RingCost(check.kase()).peak())) {
    if (!diagnose_messages(check)) check.diagnose("large_buffer");
  }
}

SHARDLINGS_CHECK(time) {
  const RingCost cost(check.kase());
  const int rank = check.slowest_rank();
  if (!check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank), cost.time(),
                     place_of_late(check, rank, cost.alpha + cost.transfer))) {
    if (!diagnose_messages(check) && in_turn(check)) check.diagnose("send_and_receive_in_turn");
  }
}

SHARDLINGS_PREDICTIONS("4 ranks") {
  const RingCost cost(predict.kase());
  const Formula<Bytes> size = named("size", Bytes(cost.size));
  const Formula<Nanos> alpha = named("alpha", cost.alpha), transfer = named("longest part / W", cost.transfer);
  predict.sent("sent", 0, "How many bytes does each rank send?", cost.sent())
      .unlike(share_of_others(cost.n()) * size, "That is one half: summing, or passing on what is summed.")
      .unlike(2 * size, "Of N parts N-1 are sent in each half.")
      .unlike(2 * (cost.n() - 1) * size, "In each step a rank sends one part, not all of them.");
  predict.end("time", "When do all ranks have all sums?", cost.time())
      .unlike((cost.n() - 1) * (alpha + transfer), "That is one half.")
      .unlike(2 * cost.n() * (alpha + transfer), "With N ranks there are N-1 steps in each half.")
      .unlike(2 * (cost.n() - 1) * transfer, "Each step begins with the latency of its messages.");
  predict.peak("peak", 0, "How many bytes of device memory are alive on a rank at the worst moment?", cost.peak())
      .unlike(size, "A part that arrives needs room until it is added.")
      .unlike(2 * size, "One part arrives at a time: it needs no room for all of them.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 ranks") {
  const RingCost cost(predict.kase());
  Case slow = predict.kase();
  for (front::LinkSpeed& link : slow.cluster.links) link.bytes_per_second /= 10;
  predict.answer(3)
      .number("time",
              "One link of the ring moves a tenth of the bytes per second, with the latency of the others. When do all "
              "ranks have all sums?",
              RingCost(slow).time())
      .unlike(cost.time(), "That is with equal links. In every step some part crosses the slow one.");
}

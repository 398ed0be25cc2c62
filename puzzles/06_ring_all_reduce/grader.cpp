// Judges a ring all-reduce: sums on every rank, bytes of each rank, the buffer, virtual time.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parts.h"
#include "case/data.h"
#include "grading/formulas/training.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::EventKind;

namespace {

Count elements_of(const Case& kase) {
  return kase.integer("elements");
}
std::int64_t size_of(const CheckContext& check) {
  return kBytesOfF32 * elements_of(check.kase());
}
std::int64_t longest_part(const CheckContext& check) {
  return kBytesOfF32 * part_of(elements_of(check.kase()), check.ranks(), 0).size();
}
std::int64_t shortest_part(const CheckContext& check) {
  return kBytesOfF32 * part_of(elements_of(check.kase()), check.ranks(), check.ranks() - 1).size();
}

/// By rank: what it holds.
using Replicas = std::vector<std::vector<float>>;

/// A ring all-reduce with a mistake in it. The right one has none of these.
struct Mistake {
  const char* diagnosis;
  int reduce_steps_missing = 0;
  int gather_steps_missing = 0;
  int added_to = 0;       ///< what arrives is added to the part that is so many further
  int gather_begins = 0;  ///< the second half begins with the part that is so many further
  bool gather_adds = false;
};

constexpr Mistake kMistakes[] = {
    {.diagnosis = "gather_missing", .gather_steps_missing = 100},
    {.diagnosis = "gather_step_missing", .gather_steps_missing = 1},
    {.diagnosis = "reduce_step_missing", .reduce_steps_missing = 1},
    {.diagnosis = "wrong_part", .added_to = 1},
    {.diagnosis = "wrong_part", .added_to = -1},
    {.diagnosis = "wrong_start_of_gather", .gather_begins = -1},
    {.diagnosis = "wrong_start_of_gather", .gather_begins = 1},
    {.diagnosis = "added_in_gather", .gather_adds = true},
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
    if (!pass_on(replicas, ring, sent, summed, true)) return {};
  }
  for (int s = 0; s < n - 1 - mistake.gather_steps_missing; ++s) {
    const int begin = ring.first + 1 - s + mistake.gather_begins;
    const auto sent = [&](int i) { return i + begin; };
    const auto filled = [&](int i) { return i + begin - 1; };
    if (!pass_on(replicas, ring, sent, filled, mistake.gather_adds)) return {};
  }
  return replicas;
}

Replicas own_numbers(const Case& kase) {
  Replicas replicas;
  for (int rank = 0; rank < kase.ranks; ++rank) replicas.push_back(integers_of(kase, rank, elements_of(kase)));
  return replicas;
}

std::vector<float> sums_of(const Case& kase) {
  std::vector<float> sums(static_cast<std::size_t>(elements_of(kase)));
  for (const std::vector<float>& own : own_numbers(kase)) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += own[i];
  }
  return sums;
}

/// What the ranks have published; nothing if not all of them have.
Replicas numbers_found(const CheckContext& check) {
  const Output* output = check.output("data");
  if (output == nullptr || output->values.size() != static_cast<std::size_t>(elements_of(check.kase()))) return {};
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
  if (!any) lines = {"no part is complete on any rank"};
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

void diagnose_output(CheckContext& check) {
  const Case& kase = check.kase();
  const std::vector<float> sums = sums_of(kase);
  const Replicas own = own_numbers(kase);
  const Replicas found = numbers_found(check);
  if (found.empty()) return;
  show_complete_parts(check, found, sums);
  if (some_not_finite(found)) return check.diagnose("buffer_too_early");
  if (divided(found, sums)) return check.diagnose("divided");
  const Count n = elements_of(kase);
  if (n % kase.ranks != 0 && only_first_summed(found, own, sums, n - n % kase.ranks)) {
    return check.diagnose("remainder_lost");
  }
  if (found == own) return check.diagnose("not_reduced");
  const std::size_t messages = check.events(0, EventKind::send).size();
  for (const Ring& ring : kRings) {
    for (const Mistake& mistake : kMistakes) {
      if (explains(mistake, ring, own, found, messages)) return check.diagnose(mistake.diagnosis);
    }
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

bool all_send_the_same(const CheckContext& check) {
  for (int rank = 1; rank < check.ranks(); ++rank) {
    if (sent_by(check, rank) != sent_by(check, 0)) return false;
  }
  return true;
}

/// Names a mistake in what was sent. False if there is none to be seen.
bool diagnose_messages(CheckContext& check) {
  const std::vector<std::int64_t> messages = messages_of(check);
  if (messages.empty()) return false;
  const auto [shortest, longest] = std::minmax_element(messages.begin(), messages.end());
  const auto steps = static_cast<std::size_t>(2 * (check.ranks() - 1) * check.ranks());
  if (*longest <= longest_part(check)) {
    if (messages.size() <= steps) return false;
    check.diagnose("one_step_too_many");
  } else if (*shortest < size_of(check)) {
    check.diagnose("uneven_parts");
  } else {
    check.diagnose(all_send_the_same(check) ? "whole_tensor" : "through_one_rank");
  }
  return true;
}

/// No rank ever receives at the moment at which it sends.
bool in_turn(const CheckContext& check) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const auto receives = check.events(rank, EventKind::recv);
    for (const front::Event& send : check.events(rank, EventKind::send)) {
      const auto together = [&](const front::Event& receive) { return receive.posted == send.posted; };
      if (std::any_of(receives.begin(), receives.end(), together)) return false;
    }
  }
  return true;
}

/// A call that is not point-to-point, if there was one: fails the check.
bool forbidden_call(CheckContext& check) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    for (const front::Event& event : check.events(rank, EventKind::collective)) {
      const std::string name = check.trace(rank).names.at(event.name);
      if (name == "barrier") continue;
      check.fail("send, recv and send_recv only", fmt::format("{} called {}", check.name_of(rank), name),
                 check.place_of_first(rank, EventKind::collective));
      check.diagnose("built_in_collective");
      return true;
    }
  }
  return false;
}

}  // namespace

SHARDLINGS_CHECK(output) {
  if (forbidden_call(check)) return;
  if (!check.identical("data", sums_of(check.kase()))) diagnose_output(check);
}

SHARDLINGS_CHECK(communication) {
  const Formula<Count> n = Letters(check.kase()).n;
  const Formula<Bytes> size = named("size", Bytes(size_of(check)));
  const Formula<Bytes> each =
      simplest(2 * share_of_others(n) * size, 2 * (size - named("shortest part", Bytes(shortest_part(check)))));
  std::int64_t total = 0;
  int most = 0;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    total += sent_by(check, rank);
    if (sent_by(check, rank) > sent_by(check, most)) most = rank;
  }
  const Place where = check.place_of_last(most, EventKind::send);
  if (!check.at_most("sent by " + check.name_of(most), Bytes(sent_by(check, most)), each, where) ||
      !check.exactly("sent by all ranks", Bytes(total), 2 * (n - 1) * size, where)) {
    diagnose_messages(check);
  }
}

SHARDLINGS_CHECK(memory) {
  if (!check.peaks_at_most(named("data", Bytes(size_of(check))) + named("longest part", Bytes(longest_part(check))))) {
    if (!diagnose_messages(check)) check.diagnose("large_buffer");
  }
}

SHARDLINGS_CHECK(time) {
  const front::LinkSpeed& link = check.kase().cluster.links[static_cast<std::size_t>(front::Link::intra_node)];
  const auto transfer = static_cast<std::int64_t>(
      std::floor(static_cast<double>(longest_part(check)) / link.bytes_per_second * 1e9 + 0.5));
  const int rank = check.slowest_rank();
  if (!check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank),
                     2 * (Letters(check.kase()).n - 1) *
                         (named("alpha", link.latency) + named("longest part / W", Nanos(transfer))),
                     check.place_of_last(rank, EventKind::recv))) {
    if (!diagnose_messages(check) && in_turn(check)) check.diagnose("send_and_receive_in_turn");
  }
}

// Judges what was found in the record, and the mended program, by sums of small integers, which are exact.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "case/data.h"
#include "findings.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;

namespace {

using Row = std::vector<float>;

struct HangCase {
  explicit HangCase(const Case& from)
      : kase(from),
        program(from.integer("program")),
        pieces(from.integer("pieces")),
        size(from.integer("size")),
        odd(from.integer("odd")) {
    for (Count i = 0; i < pieces; ++i) bounds.push_back(bounds.back() + size + (program == 3 ? i : 0));
  }

  /// What rank r begins with.
  Row data(int rank) const {
    Row row = integers_of(kase, rank, bounds.back());
    if (rank != odd || (program != 2 && program != 8)) return row;
    const Count zero = program == 2 ? pieces - 1 : kase.integer("bad_step");
    const auto at = [&](Count piece) { return row.begin() + bounds[static_cast<std::size_t>(piece)]; };
    std::fill(at(zero), at(zero + 1), 0.0F);
    return row;
  }
  Row sum() const {
    Row total = data(0);
    for (int rank = 1; rank < kase.ranks; ++rank) {
      const Row other = data(rank);
      std::transform(total.begin(), total.end(), other.begin(), total.begin(), std::plus<>());
    }
    return total;
  }
  /// Each rank's loss is the first of its numbers.
  Row loss() const {
    float total = 0;
    for (int rank = 0; rank < kase.ranks; ++rank) total += data(rank).front();
    return {total};
  }
  /// Rank r's own part of `size` elements, one behind another.
  Row shards() const {
    Row all;
    for (int rank = 0; rank < kase.ranks; ++rank) {
      const Count each = size / kase.ranks + (rank < size % kase.ranks ? 1 : 0);
      const Row row = data(rank);
      all.insert(all.end(), row.begin(), row.begin() + each);
    }
    return all;
  }

  const Case& kase;
  Count program, pieces, size, odd;
  std::vector<Count> bounds = {0};
};

/// Where a rank's result is, and what it should be.
struct Expected {
  const char* name;
  Row values;
};

std::vector<Expected> expected_of(const HangCase& of, int rank) {
  switch (of.program) {
    case 1:
      return rank == 0 ? std::vector<Expected>{{"whole", of.shards()}, {"loss", of.loss()}}
                       : std::vector<Expected>{{"loss", of.loss()}};
    case 4: return {{"whole", of.data((rank + of.kase.ranks - 1) % of.kase.ranks)}};
    case 5: return {{"data", of.sum()}, {"loss", of.loss()}};
    case 6: return {{"data", of.data(0)}};
    case 7: return {{"whole", of.shards()}};
    default: return {{"data", of.sum()}};
  }
}

Row found_of(const CheckContext& check, const std::string& name, int rank) {
  const Output* output = check.output(name);
  if (output == nullptr || output->cols == 0) return {};
  const auto begin = output->values.begin() + rank * output->cols;
  return {begin, begin + output->cols};
}

/// What is wrong with `found`, of which `expected` was wanted; "" if nothing known is.
std::string mistake(const HangCase& of, int rank, const Expected& expected, const Row& found) {
  const std::size_t n = expected.values.size();
  if (std::any_of(found.begin(), found.begin() + static_cast<Count>(n), [](float x) { return std::isnan(x); })) {
    return "not_finite";
  }
  const auto is = [&](const auto& value) {
    for (std::size_t i = 0; i < n; ++i) {
      if (found[i] != value(i)) return false;
    }
    return true;
  };
  const auto ranks = static_cast<float>(of.kase.ranks);
  if (is([&](std::size_t i) { return expected.values[i] / ranks; })) return "mean_taken";
  if (of.program == 4 && of.kase.ranks > 2) {
    const Row next = of.data((rank + 1) % of.kase.ranks);
    return is([&](std::size_t i) { return next[i]; }) ? "wrong_neighbour" : "";
  }
  const Row before = expected.name == std::string("data") ? of.data(rank) : Row(n, 0.0F);
  const bool some =
      is([&](std::size_t i) { return found[i] == before[i % before.size()] ? found[i] : expected.values[i]; });
  return some ? "left_out" : "";
}

Formula<Bytes> budget(const HangCase& of) {
  const Formula<Count> n = named("N", Count(of.kase.ranks));
  const Formula<Bytes> all = named("data", Bytes(of.bounds.back() * 4));
  switch (of.program) {
    case 1: return (n - 1) * named("whole", Bytes(of.size * 4)) + 2 * (n - 1) * named("loss", Bytes(4));
    case 7: return (n - 1) * named("whole", Bytes(of.size * 4));
    case 4: return n * all;
    case 5: return 2 * (n - 1) * (all + named("loss", Bytes(4)));
    case 6: return (n - 1) * all;
    default: return 2 * (n - 1) * all;
  }
}

/// Would the record of this program look the same with this cause, so that only the program's text excludes it?
bool record_fits(Count program, Cause cause) {
  switch (program) {
    case 1: return cause == Cause::other_order || cause == Cause::skipped_for_data;
    case 2: return cause == Cause::skipped_for_data || cause == Cause::called_by_some;
    case 3: return cause == Cause::own_size;
    case 6: return cause == Cause::fewer_turns || cause == Cause::skipped_for_data || cause == Cause::called_by_some;
    case 8: return cause == Cause::fewer_turns || cause == Cause::called_by_some;
    default: return false;
  }
}

}  // namespace

SHARDLINGS_CHECK(finding) {
  const HangCase of(check.kase());
  const Finding right = hang::kFindings.at(static_cast<std::size_t>(of.program - 1));
  const Row found = found_of(check, "finding", 0);
  if (found.size() == 4 && found[3] > static_cast<float>(hang::kFindings.size())) {
    check.fail("8 findings, one of each program", fmt::format("{} findings", found[3]));
    return check.diagnose("too_many_findings");
  }
  if (found.size() != 4 || std::isnan(found[0])) {
    check.fail(fmt::format("what is wrong in program {}", of.program), "nothing: findings() ends before");
    return check.diagnose("no_finding");
  }
  // A rank or a call that no program has, however large, is as wrong as any other.
  const auto number = [](float value) { return static_cast<int>(std::clamp(value, -1.0F, 1e6F)); };
  const Finding said{number(found[0]), number(found[1]), static_cast<Cause>(number(found[2]))};
  if (hang::same(said, right)) {
    check.exactly("findings that the record bears out", 1, named("findings", Count(1)), "findings");
    return;
  }
  check.fail(fmt::format("what the record of program {} shows", of.program),
             fmt::format("{}, call {}, {}",
                         said.rank == hang::kAllAlike ? "all ranks alike (kNobody)" : fmt::format("rank {}", said.rank),
                         said.call, hang::name_of(said.cause)));
  if (said.cause == Cause::slow_rank) return check.diagnose("nobody_is_slow");
  if (said.cause != right.cause) {
    return check.diagnose(record_fits(of.program, said.cause) ? "program_says_otherwise" : "wrong_cause");
  }
  if (said.rank == right.rank) return check.diagnose("wrong_call");
  const bool says_all = said.rank == hang::kAllAlike, are_all = right.rank == hang::kAllAlike;
  check.diagnose(says_all ? "not_all_alike" : are_all ? "all_alike" : "wrong_rank");
}

SHARDLINGS_CHECK(program) {
  const HangCase of(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    for (const Expected& expected : expected_of(of, rank)) {
      const Row found = found_of(check, expected.name, rank);
      if (found.size() < expected.values.size()) return;
      const auto differs = std::mismatch(expected.values.begin(), expected.values.end(), found.begin());
      if (differs.first == expected.values.end()) continue;
      const auto at = differs.first - expected.values.begin();
      check.fail(fmt::format("{} in element {} of {} on rank {}", *differs.first, at, expected.name, rank),
                 fmt::format("{}", *differs.second));
      const std::string known = mistake(of, rank, expected, found);
      if (!known.empty()) check.diagnose(known);
      return;
    }
  }
  check.exactly("ranks with a right result", check.ranks(), named("N", Count(check.ranks())), "ranks");
}

SHARDLINGS_CHECK(communication) {
  const HangCase of(check.kase());
  Bytes sent;
  for (int rank = 0; rank < check.ranks(); ++rank) sent += check.counters(rank).bytes_sent();
  if (!check.at_most("bytes sent by all ranks together", sent, budget(of))) check.diagnose("too_much_sent");
}

SHARDLINGS_PREDICTIONS("2, epoch") {
  const HangCase of(predict.kase());
  const Formula<Count> n = named("N", Count(of.kase.ranks)), batches = named("batches", of.pieces);
  const Formula<Bytes> gradient = named("gradient", Bytes(of.size * 4));
  predict
      .count("calls", "In the mended program 2, how many all-reduces does rank 2 make, which has 2 batches?", batches,
             "calls")
      .unlike(batches - 1, "So it does in the program that hangs. The others wait for it in the next one.");
  predict
      .sent("sent", 0, "How many bytes does rank 0 send in the mended program 2?",
            batches * (2 * (n - 1) / n * gradient))
      .unlike((batches - 1) * (2 * (n - 1) / n * gradient), "That is without the batch that rank 2 does not have.")
      .unlike(batches * (2 * gradient), "A rank keeps one of N parts in each of the two rounds.");
  const Formula<Count> micro_batches = named("m", Count(3));
  predict
      .count(
          "messages",
          "How many messages does the mended program 6 make in all, with 3 stages and 3 micro-batches that go through "
          "all of them?",
          (n - 1) * micro_batches, "messages")
      .unlike((n - 1) * (micro_batches - 1), "So many have ended in the record. Was every micro-batch among them?")
      .unlike(n * micro_batches, "The last stage passes nothing on.");
}

SHARDLINGS_PREDICTIONS_AFTER("2, epoch") {
  const Formula<Count> gpus = named("GPUs", Count(16384));
  predict.answer(1)
      .count("hours",
             "16384 GPUs wait in a collective for 30 minutes, until a watchdog gives up. How many GPU-hours is that?",
             gpus / 2, "GPU-hours")
      .unlike(gpus, "That is an hour.")
      .unlike(gpus * 30, "Those are minutes.");
}

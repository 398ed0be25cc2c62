// Judges what each rank of a grid reads, packs and draws: one device's sequences, cursor, masks and weights, bit for
// bit, and that weights are shared by one broadcast.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "cursor_log.h"
#include "grading/formulas/data_numbering.h"
#include "grading/formulas/data_run.h"
#include "grading/formulas/training.h"
#include "grading/judge/most_of_products.h"
#include "grading/judge/predictions.h"
#include "model/operation_flops.h"
#include "packed_checks.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Event;
using front::EventKind;

namespace {

// ---- Sequences and cursors ----

/// What a rank did in a step.
struct Step {
  Count number = 0;
  Count cursor = 0;  ///< as the rank had it
  Count next = 0;    ///< what it became
  std::vector<Count> sequences;
  Count count = 0;  ///< of sequences; of more than a batch has, the others are not known
  int rank = 0;
  GridPlace place;
};

/// All of them, rank by rank.
std::vector<Step> steps_of(const CheckContext& check, const DataCase& of) {
  const Output* output = check.output("steps");
  std::vector<Step> steps;
  const Count columns_of_step = kCursorParts + 1 + of.batch;
  const auto columns = static_cast<std::size_t>(of.steps * columns_of_step + kCursorParts);
  if (output == nullptr || output->values.size() != columns * static_cast<std::size_t>(check.ranks())) return steps;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const float* row = output->values.data() + columns * static_cast<std::size_t>(rank);
    for (Count number = 0; number < of.steps; ++number, row += columns_of_step) {
      Step step{number, logged_cursor(row), logged_cursor(row + columns_of_step), {}, 0, rank, {}};
      step.place = place_in_grid(of, rank, number);
      step.count = static_cast<Count>(row[kCursorParts]);
      const float* first = row + kCursorParts + 1;
      step.sequences.assign(first, first + std::min(step.count, of.batch));
      steps.push_back(std::move(step));
    }
  }
  return steps;
}

using Numbers = std::vector<Count>;

Numbers part(const Numbers& all, Range range) {
  const auto size = static_cast<Count>(all.size());
  return {all.begin() + std::min(range.begin, size), all.begin() + std::min(range.end, size)};
}

/// A replica's part of a step.
Range share(const Step& step, Count size) {
  return part_of(size, step.place.d, step.place.dp);
}

std::string name_of(const CheckContext& check, const Step& step) {
  return fmt::format("{} (replica {}, stage {}, part {}) in step {}, from cursor {} on", check.name_of(step.rank),
                     step.place.dp, step.place.pp, step.place.tp, step.number, step.cursor);
}

std::string text_of(const Numbers& numbers) {
  std::string text;
  for (const Count number : numbers) text += fmt::format("{}{}", text.empty() ? "" : ", ", number);
  return text.empty() ? "no sequence" : "sequences " + text;
}

/// What a rank reads by a rule.
using Reads = std::function<Numbers(const Step&)>;

bool all_read(const std::vector<Step>& steps, const Reads& reads) {
  return std::all_of(steps.begin(), steps.end(), [&](const Step& step) { return step.sequences == reads(step); });
}

/// Some two ranks of one replica read differently in a step.
bool replica_disagrees(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [&](const Step& a) {
    return std::any_of(steps.begin(), steps.end(), [&](const Step& b) {
      return a.number == b.number && a.place.dp == b.place.dp && a.sequences != b.sequences;
    });
  });
}

/// Two replicas have a sequence in common in some step.
bool same_data_twice(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [&](const Step& a) {
    return std::any_of(steps.begin(), steps.end(), [&](const Step& b) {
      return a.number == b.number && a.place.dp < b.place.dp &&
             std::any_of(a.sequences.begin(), a.sequences.end(), [&](Count sequence) {
               return std::find(b.sequences.begin(), b.sequences.end(), sequence) != b.sequences.end();
             });
    });
  });
}

/// A step whose order is that of a seed which is larger by `more`.
Reads shuffled_by(const DataCase& of, std::function<std::uint64_t(const Step&, std::uint64_t epoch)> more) {
  return [&of, more = std::move(more)](const Step& step) {
    const StepRead right = step_from(of, step.cursor);
    const Count begin = step.cursor % of.sequences;
    const auto epoch = static_cast<std::uint64_t>(step.cursor / of.sequences);
    const Numbers all = part(order_of(of, more(step, epoch)), {begin, begin + right.size()});
    return part(all, share(step, right.size()));
  };
}

/// The next `batch` sequences, across the end of the epoch.
Numbers across_the_end(const DataCase& of, const Step& step) {
  const auto epoch = static_cast<std::uint64_t>(step.cursor / of.sequences);
  Numbers all = order_of(of, epoch);
  while (static_cast<Count>(all.size()) < of.sequences + of.batch) {
    const Numbers next =
        order_of(of, epoch + static_cast<std::uint64_t>(all.size()) / static_cast<std::uint64_t>(of.sequences));
    all.insert(all.end(), next.begin(), next.end());
  }
  const Count begin = step.cursor % of.sequences;
  return part(part(all, {begin, begin + of.batch}), share(step, of.batch));
}

/// Each d-th sequence, as torch.utils.data's DistributedSampler deals them.
Numbers in_turns(const DataCase& of, const Step& step) {
  const StepRead right = step_from(of, step.cursor);
  Numbers turns;
  for (Count i = step.place.dp; i < right.size(); i += step.place.d) {
    turns.push_back(right.sequences[static_cast<std::size_t>(i)]);
  }
  return turns;
}

void diagnose_sequences(CheckContext& check, const DataCase& of, const std::vector<Step>& steps) {
  const auto is = [&](const Reads& reads) { return all_read(steps, reads); };
  const auto by = [&](auto more) { return is(shuffled_by(of, more)); };
  const auto rank_of = [](const Step& step) { return static_cast<std::uint64_t>(step.rank); };
  const auto replica_of = [](const Step& step) { return static_cast<std::uint64_t>(step.place.dp); };
  // First, since rank and replica are 0 where there is one of them.
  if (by([](const Step&, std::uint64_t) { return std::uint64_t{0}; })) return check.diagnose("same_order_each_epoch");
  if (by([&](const Step& step, std::uint64_t epoch) { return epoch + rank_of(step); }) ||
      by([&](const Step& step, std::uint64_t epoch) { return epoch + replica_of(step); }) ||
      by([&](const Step& step, std::uint64_t) { return rank_of(step); }) ||
      by([&](const Step& step, std::uint64_t) { return replica_of(step); })) {
    return check.diagnose("shuffled_by_rank");
  }
  if (is([&](const Step& step) {
        const StepRead right = step_from(of, step.cursor);
        return part(right.sequences, part_of(right.size(), check.ranks(), step.rank));
      })) {
    return check.diagnose("dealt_to_all_ranks");
  }
  if (is([&](const Step& step) { return across_the_end(of, step); })) return check.diagnose("epochs_mixed");
  if (is([&](const Step& step) { return in_turns(of, step); })) return check.diagnose("dealt_in_turns");
  if (is([&](const Step& step) { return part(step_from(of, step.cursor).sequences, share(step, of.batch)); })) {
    return check.diagnose("dealt_by_batch");
  }
  if (is([&](const Step& step) {
        const Count begin = step.cursor % of.sequences, size = step_from(of, step.cursor).size();
        Numbers files;
        for (Count i = begin; i < begin + size; ++i) files.push_back(i);
        return part(files, share(step, size));
      })) {
    return check.diagnose("not_shuffled");
  }
  if (replica_disagrees(steps)) return check.diagnose("replica_disagrees");
  if (same_data_twice(steps)) check.diagnose("same_data_twice");
}

void diagnose_cursor(CheckContext& check, const DataCase& of, const std::vector<Step>& steps) {
  const auto is = [&](const auto& next) {
    return std::all_of(steps.begin(), steps.end(), [&](const Step& step) {
      return step.cursor >= 0 && step.next == next(step, step_from(of, step.cursor).size());
    });
  };
  if (is([](const Step& step, Count size) { return step.cursor + share(step, size).size(); })) {
    return check.diagnose("cursor_of_a_replica");
  }
  if (is([&](const Step& step, Count) { return step.cursor + of.batch; })) return check.diagnose("past_the_epoch");
  if (is([](const Step& step, Count) { return step.cursor + 1; })) return check.diagnose("cursor_counts_steps");
  if (is([&](const Step& step, Count size) { return (step.cursor + size) % of.sequences; })) {
    return check.diagnose("epoch_forgotten");
  }
  if (is([&](const Step& step, Count size) {
        const Count next = step.cursor + size, left = of.sequences - next % of.sequences;
        return left < of.batch ? next + left : next;
      })) {
    check.diagnose("rest_skipped");
  }
}

// ---- Masks ----

/// Ranks that have the same activation have dropped different elements of it.
bool copies_differ(const CheckContext& check, const DataCase& of) {
  return !all_masks(of, right_numbering, [&](const Mask& mask) {
    const Output* found = check.output(mask.name);
    return found == nullptr || found->conflict.empty();
  });
}

void diagnose_masks(CheckContext& check, const DataCase& of) {
  if (copies_differ(check, of)) return check.diagnose("copies_differ");
  for (const KnownNumbering& known : known_numberings()) {
    const bool is_it = all_masks(of, known.rule, [&](const Mask& mask) {
      const Output* found = check.output(mask.name);
      return found != nullptr && found->values == mask.values;
    });
    if (is_it) return check.diagnose(known.diagnosis);
  }
}

// ---- Weights ----

/// Weights of rank 0 in the place of everybody's, where all have as many.
std::vector<float> as_on_rank_0(const DataCase& of, const std::vector<float>& right) {
  const GridPlace grid = place_in_grid(of, 0, 0);
  std::vector<float> found = right;
  const Count layers = of.layers / grid.p, rows = of.middle / grid.t;
  if (layers * grid.p != of.layers || rows * grid.t != of.middle) return {};
  for (Count i = 0; i < static_cast<Count>(right.size()); ++i) {
    const Count matrix = i / of.matrix(), row = i % of.matrix() / of.width, column = i % of.width;
    const Count from = matrix % (2 * layers) * of.matrix() + row % rows * of.width + column;
    found[static_cast<std::size_t>(i)] = right[static_cast<std::size_t>(from)];
  }
  return found;
}

/// What a rank has sent before it computed anything of a step.
Bytes sent_for_weights(const CheckContext& check, int rank) {
  std::uint64_t begin = ~std::uint64_t{0};
  for (const Event& event : check.trace(rank).events) {
    if (event.kind == EventKind::operation && check.trace(rank).names.at(event.name) == "matmul") {
      begin = std::min(begin, event.order);
    }
  }
  Bytes sent;
  for (const Event& event : check.trace(rank).events) {
    if ((event.kind == EventKind::collective || event.kind == EventKind::send) && event.order < begin) {
      sent += event.bytes;
    }
  }
  return sent;
}

Formula<Bytes> weights_of_rank(const DataCase& of, int rank) {
  const GridPlace place = place_in_grid(of, rank, 0);
  const Count layers = part_of(of.layers, place.p, place.pp).size(),
              rows = part_of(of.middle, place.t, place.tp).size();
  return named("2 L/p h f/t of 4 bytes", Bytes(layers * 2 * rows * of.width * kBytesOfF32));
}

}  // namespace

SHARDLINGS_CHECK(cursor) {
  const DataCase of(check.kase());
  if (of.is_packed()) return check_packed_cursor(check, of);
  const std::vector<Step> steps = steps_of(check, of);
  for (const Step& step : steps) {
    const Count size = step.cursor < 0 ? 0 : step_from(of, step.cursor).size();
    if (check.exactly("cursor of " + name_of(check, step), step.next,
                      named("cursor", step.cursor) + named("sequences of the step", size), "sequences")) {
      continue;
    }
    return diagnose_cursor(check, of, steps);
  }
}

SHARDLINGS_CHECK(sequences) {
  const DataCase of(check.kase());
  if (of.is_packed()) return check_packed_tokens(check, of);
  const std::vector<Step> steps = steps_of(check, of);
  for (const Step& step : steps) {
    if (step.cursor < 0) return;
    const StepRead right = step_from(of, step.cursor);
    const Numbers expected = part(right.sequences, share(step, right.size()));
    const Count count = static_cast<Count>(expected.size());
    if (!check.exactly("sequences read by " + name_of(check, step), step.count, named("part of the replica", count),
                       "sequences")) {
      return diagnose_sequences(check, of, steps);
    }
    if (step.sequences == expected) continue;
    check.fail(fmt::format("{} on {}", text_of(expected), name_of(check, step)), text_of(step.sequences));
    return diagnose_sequences(check, of, steps);
  }
}

SHARDLINGS_CHECK(documents) {
  check_documents(check, DataCase(check.kase()));
}

SHARDLINGS_CHECK(masks) {
  const DataCase of(check.kase());
  if (of.is_packed()) {  // these cases are about packing alone
    check.exactly("masks", Count(0), named("masks of a case without dropout", Count(0)), "masks");
    return;
  }
  const bool held =
      all_masks(of, right_numbering, [&](const Mask& mask) { return check.identical(mask.name, mask.values); });
  if (held) return;
  check.detail("row: the position; column: the sequence of the step, times the columns of one device, plus the column");
  diagnose_masks(check, of);
}

SHARDLINGS_CHECK(weights) {
  const DataCase of(check.kase());
  const std::vector<float> right = first_weights(of);
  if (check.identical("weights at first", right)) return;
  const Output* found = check.output("weights at first");
  if (found == nullptr) return;
  const int replicas = place_in_grid(of, 0, 0).d;
  if (found->values == as_on_rank_0(of, right)) return check.diagnose("shared_with_all_ranks");
  for (int replica = 1; replica < replicas; ++replica) {
    if (found->values == first_weights(of, kOthers * replica)) return check.diagnose("shared_from_another_replica");
  }
  const std::vector<double> all(found->values.begin(), found->values.end());
  if (replicas > 1 && alike({all}, {mean_of_first_weights(of, replicas)})) return check.diagnose("weights_averaged");
  if (replicas > 1 && found->values == right) check.diagnose("replicas_differ");
}

SHARDLINGS_CHECK(communication) {
  const DataCase of(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (check.at_most("sent for first weights by " + check.name_of(rank), sent_for_weights(check, rank),
                      weights_of_rank(of, rank), check.place_of_first(rank, EventKind::collective))) {
      continue;
    }
    return check.diagnose("weights_sent_more_than_once");
  }
}

SHARDLINGS_CHECK(training) {
  const TrainedWeights right = trained_by_one_device(DataCase(check.kase()));
  check.equal("weights in the end", right.exact, right.tolerance);
}

/// What the harness trains with.
SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  const DataCase of(check.kase());
  const Count longest = of.is_packed() ? std::max(of.s, of.kase.integer("sequence_later")) : of.s;
  const Count rows = of.steps * longest * of.batch, middle = rows * of.layers * of.middle;
  return {{Product::scale_rows, Flops(rows * of.width)},
          {Product::gelu, Flops((model::kGeluFlops + model::kGeluBackwardFlops) * middle)},
          {Product::sgd, Flops(model::kSgdFlops * of.steps * 2 * of.layers * of.matrix())}};
}

SHARDLINGS_PREDICTIONS("8 ranks, then 8 in another grid") {
  const DataCase of(predict.kase());
  const std::vector<StepRead> steps = all_steps(of);
  const GridPlace last = place_in_grid(of, predict.kase().ranks - 1, 0);
  Count of_replica = 0, all = 0;
  for (Count step = 0; step < predict.kase().steps; ++step) {
    const Count size = steps[static_cast<std::size_t>(step)].size();
    of_replica += part_of(size, last.d, last.dp).size();
    all += size;
  }
  const Formula<Count> batch = named("batch", of.batch), step_count = named("steps", Count(predict.kase().steps));
  predict
      .count("cursor", "Where does the cursor stand after the four steps in the first grid?",
             named("sequences of the steps", all), "sequences")
      .unlike(batch * step_count, "The third step has what is left of the first epoch, and no more.")
      .unlike(named("sequences of one epoch and what is left", 2 * of.sequences), "The second epoch has just begun.");
  predict
      .count("read", "How many sequences does replica 1 read in these four steps?",
             named("its parts of the steps", of_replica), "sequences")
      .unlike(named("half of a batch", of.batch / last.d) * step_count,
              "One of the steps is shorter. Who reads its sequences?")
      .unlike(named("half of all, rounded up", (all + 1) / 2),
              "The first replica gets the one that cannot be divided.");
  const Formula<Count> first = named("sequences before", part_of(of.batch, last.d, last.dp).begin);
  const Formula<Count> s = named("s", of.s), f = named("f", of.middle);
  const Range columns = part_of(of.middle, last.t, last.tp);
  predict
      .count("first",
             "Rank 7 is replica 1, stage 1 and part 1. In the first step, which number does the first element of its "
             "inner activations draw?",
             first * (s * f) + named("columns before", columns.begin), "")
      .unlike(first * (s * f), "It does not have the first columns: on one device others come before them.")
      .unlike(first * (s * named("own columns", columns.size())),
              "On one device a sequence has all columns of each position, not those of this rank alone.")
      .unlike(named("columns before", columns.begin), "Replica 1 does not have the first sequence of the step.");
  predict
      .number("weights", "How many bytes does rank 0 send so that all replicas have its weights?",
              weights_of_rank(of, 0))
      .unlike(named("all weights", Bytes(2 * of.layers * of.matrix() * kBytesOfF32)),
              "Rank 0 has half of the layers, and of each of these half of the columns.");
}

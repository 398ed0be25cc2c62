// Judges what each rank of a grid reads, packs and draws: one device's sequences, cursor, masks and weights, bit for
// bit, and that weights are shared by one broadcast.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>

#include "grading/formulas/data_numbering.h"
#include "grading/formulas/data_run.h"
#include "grading/formulas/training.h"
#include "grading/judge/most_of_products.h"
#include "grading/judge/predictions.h"
#include "model/operation_flops.h"
#include "packed_checks.h"
#include "sequence_checks.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Event;
using front::EventKind;

namespace {

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
  of.is_packed() ? check_packed_cursor(check, of) : check_cursor(check, of);
}

SHARDLINGS_CHECK(sequences) {
  const DataCase of(check.kase());
  of.is_packed() ? check_packed_tokens(check, of) : check_sequences(check, of);
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

// What is asked before and after the pass about three divisions at once.

#include <cmath>

#include "grading/formulas/grid_step.h"
#include "grading/formulas/pipeline_checks.h"
#include "grading/formulas/training.h"
#include "grading/judge/grader.h"
#include "grading/judge/most_of_products.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;

/// A norm of every weight in each step.
SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  const model::ModelStructure structure = model::make_structure(check.kase().model);
  const Count steps = check.kase().steps, layers = std::ssize(structure.layers);
  return {{Product::add_squares, Flops(2 * 2 * steps * structure.total)},
          {Product::clip_factor, Flops(2 * steps * layers)}};
}

SHARDLINGS_PREDICTIONS("2 x 2 x 2, 4 micro-batches") {
  const Case& kase = predict.kase();
  const GridRank own(kase, 0);
  const Letters letter(kase);
  std::vector<Formula<Bytes>> budgets;
  for (const GroupBytes& bytes : bytes_of_groups(kase, own)) budgets.push_back(bytes.budget);
  const Formula<Bytes> peak = peak_of(kase, own), moments = named("moments", Bytes(moment_bytes(own)));
  predict.peak("peak", 0, "How many bytes of device memory are alive on rank 0 at the worst moment?", peak)
      .unlike(peak + moments, "Each replica has the moments of its own part alone.")
      .unlike(peak - moments, "Adam's moments of the rank's part are missing.");
  predict.sent("sent", 0, "How many bytes does rank 0 send in all groups together?", sum(budgets))
      .unlike(sum(budgets) - budgets.back(), "The sums inside the layers, over the tensor-parallel group, are missing.")
      .unlike(budgets.front(), "Those are gradients and weights over the replicas. Other groups send as well.");
  predict.end("time", "When does the step end? (Links cost nothing here.)", step_time(kase, own.pipeline))
      .unlike(letter.m * named("layers of a stage", own.pipeline.longest_stage()) * (letter.f + letter.b),
              "That is one rank's work. The pipeline has to fill and to drain.")
      .unlike(letter.m * letter.l * (letter.f + letter.b), "The layers are divided over the stages.");
}

SHARDLINGS_PREDICTIONS_AFTER("2 x 2 x 2, 4 micro-batches") {
  const auto milliseconds = [](double gigabytes_per_second) {
    const double bytes = 2 * 7.0 / 8 * 2 * 8192 * 16384;
    return named("2 (t-1)/t (s, b, h) / W", Nanos(std::llround(bytes / gigabytes_per_second)));
  };
  predict.answer(2)
      .number("sum",
              "s b = 8192, h = 16,384, bf16, t = 8: how long does a sum of (s, b, h) take, if the ranks of a group are "
              "on different nodes with 50 GB/s between them? (Leave out latencies.)",
              milliseconds(50))
      .unlike(milliseconds(450), "That is inside a node, with 450 GB/s.")
      .unlike(milliseconds(100), "An all-reduce has two halves.");
}

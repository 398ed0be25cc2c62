// What is asked after the pass about three divisions at once.

#include <cmath>

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

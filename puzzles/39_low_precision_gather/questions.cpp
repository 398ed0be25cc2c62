// What is asked after the pass about bytes and memory of weights in 8 bits and fewer.

#include "budgets.h"
#include "grading/judge/grader.h"
#include "grading/judge/most_of_products.h"
#include "grading/judge/predictions.h"
#include "model/operation_flops.h"

using namespace shardlings;
using namespace shardlings::grader;

/// In each step scales and codes of the rank's own parts, and every layer out of its codes for forward and for
/// backward.
SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  const cases::Case& kase = check.kase();
  Count parts = 0, whole = 0;
  for (const Count n : low_precision::sizes(kase)) {
    parts += part_of(n, kase.ranks, rank).size();
    whole += n;
  }
  const Count each = model::kScaleFlops * kase.steps;
  return {{Product::block_scales, Flops(2 * each * whole)},
          {Product::quantize, Flops(2 * each * parts)},
          {Product::dequantize, Flops(2 * each * whole)}};
}

SHARDLINGS_PREDICTIONS_AFTER("4 ranks") {
  const Formula<Bytes> n = named("n", Bytes(405'000'000'000));
  predict.answer(1)
      .number(
          "fp4",
          "Of 405 billion weights in NVFP4, whose gradients are in bf16: how many bytes does a rank send in a step, if "
          "(N-1)/N is 1?",
          2 * (n / Count(2) + n / Count(16)) + 2 * n)
      .unlike(2 * (n / Count(2) + n / Count(32)) + 2 * n, "A block has 16 numbers.")
      .unlike(n / Count(2) + n / Count(16) + 2 * n, "Weights are gathered for forward and for backward.");
  predict.answer(2)
      .number(
          "f32",
          "Of 405 billion weights in MXFP8, whose gradients are in f32: how many bytes does a rank send in a step, if "
          "(N-1)/N is 1?",
          2 * (n + n / Count(32)) + 4 * n)
      .unlike(2 * (n + n / Count(32)) + 2 * n, "That is with gradients in bf16.");
  predict.answer(3)
      .number("scales", "How many bytes have the scales of 405 billion weights?", n / Count(32))
      .unlike(n / Count(16), "A scaling block has 32 numbers.");
}

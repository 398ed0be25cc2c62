// What is asked after the pass about attention and the vocabulary divided by heads and rows.

#include "grading/formulas/divided_gpt.h"
#include "grading/formulas/training.h"
#include "grading/judge/grader.h"
#include "grading/judge/least_of_products.h"
#include "grading/judge/most_of_products.h"
#include "grading/judge/predictions.h"
#include "model/operation_flops.h"

using namespace shardlings;
using namespace shardlings::grader;

/// Of all ranks' heads, parts of the middle and of the vocabulary, as the check of work counts those of one rank.
SHARDLINGS_LEAST_OF_PRODUCTS(check) {
  Flops all;
  for (int rank = 0; rank < check.ranks(); ++rank) all += divided_flops(DividedGpt(check.kase(), rank)).value();
  return named("products of all ranks", all);
}

/// The harness makes norms and GELUs; of the logits a rank has its columns.
SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  const DividedGpt gpt(check.kase(), rank);
  const Count norms = (2 * gpt.blocks + 1) * gpt.tokens * gpt.width,
              middle = gpt.blocks * gpt.tokens * gpt.middle_part();
  const Count logits = gpt.tokens * gpt.vocabulary_part();
  return {{Product::layer_norm, Flops((model::kNormFlops + model::kNormBackwardFlops) * norms)},
          {Product::gelu, Flops((model::kGeluFlops + model::kGeluBackwardFlops) * middle)},
          {Product::exp_minus_row, Flops(2 * 9 * logits)},
          {Product::divide_rows, Flops(2 * logits)},
          {Product::loss_add, Flops(2 * 11 * gpt.tokens)},
          {Product::row_max, Flops(2 * logits)}};
}

SHARDLINGS_PREDICTIONS_AFTER("4 ranks") {
  const Formula<Count> t = named("t", 8), vocabulary = named("V", 50257);
  const Formula<Bytes> numbers = named("2 s b", Bytes(2 * 2048));
  predict.answer(1)
      .number("loss",
              "V = 50,257, s b = 2048, t = 8, 2 bytes for each number: how many bytes does a rank send for the loss as "
              "it is here?",
              3 * (2 * (share_of_others(t) * numbers)))
      .unlike(2 * (share_of_others(t) * numbers),
              "Three numbers of each position are summed: the largest, the sum of "
              "exponentials, and the target's.")
      .unlike(3 * (share_of_others(t) * numbers), "An all-reduce has two halves.");
  predict.number("gathered", "And how many if the logits were gathered?", share_of_others(t) * (vocabulary * numbers))
      .unlike(2 * (share_of_others(t) * (vocabulary * numbers)), "Nothing is summed: a gather is one half.")
      .unlike(vocabulary * numbers / t, "That is a rank's own part. A gather brings it the parts of the others.");
}

// What is asked after the pass about attention and the vocabulary divided by heads and rows.

#include "grading/formulas/training.h"
#include "grading/judge/grader.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;

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

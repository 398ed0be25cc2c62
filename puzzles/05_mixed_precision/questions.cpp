// What is asked after the pass about mixed precision.

#include "base/bf16.h"
#include "grading/judge/grader.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;

SHARDLINGS_PREDICTIONS_AFTER("3 ranks, uneven tokens, 2 steps") {
  const Count micros = 1000;
  float sum = 0;
  for (Count i = 0; i < micros; ++i) sum = float_of_bf16(bf16_of_float(sum + 1));
  predict.answer(2)
      .count("sum",
             "A gradient is 1 in each of 1000 micro-batches. They are added up in bf16, one after another. What is the "
             "sum?",
             named("sum in bf16", static_cast<Count>(sum)), "")
      .unlike(micros, "Every sum is rounded to 8 significant bits, and soon the next 1 is less than half a step.")
      .unlike(static_cast<Count>(sum) / 2,
              "bf16 stores 7 bits, and the first bit of a number goes without saying: 8 are significant.");
}

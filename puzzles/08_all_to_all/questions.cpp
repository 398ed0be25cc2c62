// What is asked after the pass about broadcasts.

#include "grading/formulas/ring_cost.h"
#include "grading/judge/grader.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;

SHARDLINGS_PREDICTIONS_AFTER("broadcast, 5 ranks") {
  const RingCost cost(predict.kase());  // a ring's first half takes as long as a scatter by the root
  predict.answer(3)
      .number(
          "scatter",
          "The root scatters its data, and a ring gathers it on all ranks. How long does that take, if each message "
          "of the scatter is waited for before the next one?",
          cost.time())
      .unlike(cost.time() / 2, "That is one half: the scatter, or the ring.");
}

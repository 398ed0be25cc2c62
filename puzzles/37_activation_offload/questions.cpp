// What is asked after the pass about moving activations to the host.

#include "grading/judge/grader.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;

SHARDLINGS_PREDICTIONS_AFTER("7 layers") {
  const Formula<Count> p = named("p", 8);
  predict.answer(2)
      .count("moved", "The first of 8 stages has 8 micro-batches in flight. Of how many can the inputs be on the host?",
             p - 2, "micro-batches")
      .unlike(p, "The one at work needs its inputs on the device.")
      .unlike(p - 1, "The next one's inputs must come back while the one before it is at work.");
}

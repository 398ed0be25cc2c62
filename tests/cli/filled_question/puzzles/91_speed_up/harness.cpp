// Asks the learner's function, and publishes what it answers.

#include "submission/harness.h"

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(speed_up, double(const std::vector<double>& seconds));

SHARDLINGS_HARNESS(h) {
  h.answer("answer", speed_up(h.kase().list("seconds")));
}

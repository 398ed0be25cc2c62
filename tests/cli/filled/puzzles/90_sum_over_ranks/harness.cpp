// Sets the rank up, calls the learner's function, and publishes what is judged.

#include "submission/harness.h"

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(sum_over_ranks, void(Rank& rank, View data));

SHARDLINGS_HARNESS(h) {
  Tensor data = h.integers(h.integer("count"), Kind::other);
  h.begin();
  sum_over_ranks(h.rank(), data);
  h.end();
  h.put("data", data);
}

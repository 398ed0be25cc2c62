// Gives every rank its numbers, calls the learner's ring_all_reduce, and publishes what has become of them.

#include "submission/harness.h"

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(ring_all_reduce, void(Rank& rank, Group& group, View data));

SHARDLINGS_HARNESS(h) {
  Tensor data = h.integers(h.integer("elements"), Kind::other);
  h.begin();
  ring_all_reduce(h.rank(), h.rank().world(), data);
  h.end();
  h.put("data", data);
}

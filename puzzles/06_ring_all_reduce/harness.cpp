// Gives every rank its numbers and its group, calls the learner's ring_all_reduce, and publishes what has become of
// them.

#include "submission/harness.h"

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(ring_all_reduce, void(Rank& rank, Group& group, View data));

SHARDLINGS_HARNESS(h) {
  Tensor data = h.integers(h.integer("elements"), Kind::other);
  // Ranks that leave the same remainder make a group; with one group it is the world.
  const int groups = static_cast<int>(h.integer("groups"));
  Group group = groups == 1 ? h.rank().world() : h.rank().world().split(h.rank().id() % groups, h.rank().id());
  h.begin();
  ring_all_reduce(h.rank(), group, data);
  h.end();
  if (groups == 1) h.put("data", data);
  if (groups > 1) h.put_of_rank("data by rank", data);
}

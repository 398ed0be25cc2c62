// Gives every rank its numbers and its group, calls one of the learner's two collectives, and publishes what every rank
// has afterwards.

#include "submission/harness.h"

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(all_to_all, void(Rank& rank, Group& group, ConstView in, View out));
SHARDLINGS_LEARNER_FUNCTION(broadcast, void(Rank& rank, Group& group, View data, int root, double alpha, double bw));

SHARDLINGS_HARNESS(h) {
  Rank& rank = h.rank();
  // Ranks that leave the same remainder make a group; with one group it is the world.
  const int groups = static_cast<int>(h.integer("groups"));
  Group group = groups == 1 ? rank.world() : rank.world().split(rank.id() % groups, rank.id());
  Tensor data = h.integers(h.integer("elements"), Kind::other);
  if (h.integer("broadcast") != 0) {
    const auto& link = h.kase().cluster.links.front();
    h.begin();
    broadcast(rank, group, data, static_cast<int>(h.integer("root")), static_cast<double>(link.latency.value()),
              link.bytes_per_second / 1e9);
    h.end();
    return h.put_of_rank("result by rank", data);
  }
  Tensor out = rank.empty(group.size() * group.mine(data.size()).size(), Kind::other);
  h.begin();
  all_to_all(rank, group, data, out);
  h.end();
  // Parts have different lengths where N does not divide n: rows must not.
  Tensor row = rank.zeros(group.size() * group.part(data.size(), 0).size(), Kind::other);
  if (out.size() > 0) copy(row.part({0, out.size()}), out);
  h.put_of_rank("result by rank", row);
}

// Gives every rank its numbers, the ranks of its node and those across the nodes, calls one of the learner's three
// functions for each size of the case, and publishes what has become of the numbers.

#include "submission/harness.h"

#include <string>

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(tree_all_reduce, void(Rank& rank, Group& node, Group& across, View data));
SHARDLINGS_LEARNER_FUNCTION(hierarchical_all_reduce, void(Rank& rank, Group& node, Group& across, View data));
SHARDLINGS_LEARNER_FUNCTION(all_reduce, void(Rank& rank, Group& node, Group& across, const std::vector<double>& alpha,
                                             const std::vector<double>& bw, View data));

SHARDLINGS_HARNESS(h) {
  const int me = h.rank().id(), per_node = h.kase().cluster.ranks_per_node;
  Group node = h.rank().world().split(me / per_node, me, "node");
  Group across = h.rank().world().split(me % per_node, me, "across");
  Group sizes = h.rank().world().split(0, me, "sizes");
  std::vector<double> alpha, bw;
  for (const auto& link : h.kase().cluster.links) {
    alpha.push_back(static_cast<double>(link.latency.value()));
    bw.push_back(link.bytes_per_second / 1e9);
  }
  std::vector<Tensor> data;
  Count elements = h.integer("elements");
  for (Count i = 0; i < h.integer("sizes"); ++i, elements *= h.integer("factor")) {
    data.push_back(h.integers(elements, Kind::other));
  }
  h.begin();
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (i > 0) sizes = sizes.split(0, me, "sizes");  // the next size begins when all ranks are done with this one
    const Count algorithm = h.integer("algorithm");
    if (algorithm == 0) tree_all_reduce(h.rank(), node, across, data[i]);
    if (algorithm == 1) hierarchical_all_reduce(h.rank(), node, across, data[i]);
    if (algorithm == 2) all_reduce(h.rank(), node, across, alpha, bw, data[i]);
  }
  h.end();
  for (std::size_t i = 0; i < data.size(); ++i) {
    h.put("data of " + std::to_string(data[i].size()) + " numbers", data[i]);
  }
}

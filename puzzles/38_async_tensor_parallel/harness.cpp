// Gives each rank its positions and its part of both weights, asks for the number of chunks where the case does not
// give it, calls the learner's forward pass, and publishes what is judged.

#include "submission/harness.h"

#include <algorithm>

#include "machines.h"
#include "model/operation_flops.h"

using namespace shardlings;
using submission::Harness;

SHARDLINGS_LEARNER_FUNCTION(number_of_chunks,
                            int(Count positions, double latency, double transfer, double launch, double compute));
SHARDLINGS_LEARNER_FUNCTION(mlp_forward,
                            void(Rank& rank, ConstView up, ConstView down, ConstView x, View y, int chunks));

namespace {

constexpr int kBlock = 1;  // the layer of the model whose two matrices these are

/// `said` is who said so.
int checked(const std::string& said, Count chunks, Count positions) {
  if (chunks >= 1 && chunks <= positions) return static_cast<int>(chunks);
  const std::string message =
      said + std::to_string(chunks) + "; there can be 1 to " + std::to_string(positions) + " chunks";
  throw InvalidArgument(message.c_str(), detail::kNoPlace);
}

/// What an all-gather of all ranks needs, as front/clock/cost.h counts it: the latency of all its hops, and what a rank
/// passes on in a second. Nodes are filled one after another.
front::LinkSpeed ring_of(const front::Cluster& cluster, int ranks) {
  const auto& [inside, between] = cluster.links;
  const int nodes = (ranks + cluster.ranks_per_node - 1) / cluster.ranks_per_node, hops = ranks - 1;
  if (nodes == 1) return {hops * inside.latency, inside.bytes_per_second};
  const int crossing = cluster.trees.known() ? nodes - 1 : hops;
  const double ports = (ranks - (nodes - 1) * cluster.ranks_per_node) * between.bytes_per_second;
  return {crossing * between.latency + (hops - crossing) * inside.latency,
          ranks > nodes ? std::min(inside.bytes_per_second, ports) : ports};
}

/// What the learner chooses, by what the machine needs.
int chosen_chunks(Harness& h) {
  constexpr double kNanoseconds = 1e9;
  const front::Cluster& cluster = h.kase().cluster;
  const Group tp = h.rank().world();
  const Count width = h.kase().model.hidden, positions = h.kase().model.sequence / tp.size();
  const double bytes = static_cast<double>((cluster.mixed ? 2 : 4) * positions * h.kase().batch * width);
  const double middle = static_cast<double>(h.kase().model.sequence * h.kase().batch * tp.part(4 * width, 0).size());
  const front::LinkSpeed ring = ring_of(cluster, tp.size());
  const double products = static_cast<double>(4 * width) * middle /
                          (cluster.mixed ? cluster.roofline.flops_per_second_bf16 : cluster.roofline.flops_per_second);
  const double gelu = static_cast<double>(model::kGeluFlops) * middle / cluster.roofline.flops_per_second;
  const int chunks =
      number_of_chunks(positions, static_cast<double>(ring.latency.value()),
                       (tp.size() - 1) * bytes / ring.bytes_per_second * kNanoseconds,
                       static_cast<double>(cluster.roofline.launch.value()), (products + gelu) * kNanoseconds);
  return checked("number_of_chunks returns ", chunks, positions);
}

/// What the learner says of the machines that are drawn: any number, which the judge looks at.
std::vector<float> choices(std::uint64_t seed) {
  std::vector<float> chosen;
  for (const Machine& machine : drawn_machines(seed)) {
    const int chunks =
        number_of_chunks(machine.positions, machine.latency, machine.transfer, machine.launch, machine.compute);
    chosen.push_back(static_cast<float>(chunks));
  }
  return chosen;
}

}  // namespace

SHARDLINGS_HARNESS(h) {
  Rank& rank = h.rank();
  const Group tp = rank.world();
  const Count width = h.kase().model.hidden, middle = 4 * width, sequence = h.kase().model.sequence;
  const Range mine = tp.mine(sequence);
  const Tensor up = h.weights(kBlock, "fc.weight", tp.mine(middle), {0, width});
  const Tensor down = h.weights(kBlock, "fc2.weight", {0, width}, tp.mine(middle));
  const Tensor x = h.normals(0, {sequence, h.kase().batch, width}, mine, Kind::activation);
  Tensor y = rank.empty(x.shape(), Kind::activation);
  const std::vector<float> chosen = choices(h.kase().seed);
  h.begin();
  const Count given = h.integer("chunks");  // 0: the learner says
  const int chunks = given == 0 ? chosen_chunks(h) : checked("the case has chunks = ", given, sequence / tp.size());
  mlp_forward(rank, up, down, x, y, chunks);
  h.end();
  const Count b = h.kase().batch;
  h.put("y", y, {sequence * b, width, {{mine.begin * b, mine.end * b}, {0, width}}});
  h.put("chunks", h.tensor({static_cast<float>(chunks)}, Kind::other));
  h.put("choices", h.tensor(chosen, Kind::other));
}

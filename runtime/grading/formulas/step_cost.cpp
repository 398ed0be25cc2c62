#include "grading/formulas/step_cost.h"

#include <algorithm>

#include "grading/formulas/sharding.h"

namespace shardlings::grading::formulas {
namespace {

/// The gradient that is on its way while backward of layer l runs.
std::int64_t gradient_on_its_way(const cases::Case& kase, const std::vector<LayerBytes>& layers, std::size_t l,
                                 int zero) {
  if (l + 1 < layers.size()) return layers[l + 1].weights;
  return zero == 2 && kase.micro_batches > 1 ? layers.front().weights : 0;
}

/// What is there all the time.
StepPeak standing(const cases::Case& kase, int rank, int zero) {
  const std::int64_t whole = weight_bytes(layer_bytes(kase));
  const std::int64_t part = sum_of(part_bytes(kase, rank));
  const std::int64_t loss = 4;
  StepPeak peak;
  peak.weights = zero >= 3 ? part : whole;
  peak.gradients = zero >= 2 ? part : whole;
  if (kase.model.optimizer == model::ModelSpec::Optimizer::adam) peak.optimizer = 2 * (zero >= 1 ? part : whole);
  peak.batch = batch_bytes(kase) + loss;
  return peak;
}

}  // namespace

std::int64_t StepPeak::total() const {
  return weights + gradients + optimizer + batch + kept + own + gathered_weights + unreduced;
}

std::vector<std::int64_t> StepPeak::terms(int zero) const {
  std::vector<std::int64_t> terms = {weights, gradients, optimizer, batch, kept, own};
  if (zero >= 3) terms.push_back(gathered_weights);
  if (zero >= 2) terms.push_back(unreduced);
  return terms;
}

StepPeak step_peak(const cases::Case& kase, int rank, int zero) {
  const std::vector<LayerBytes> layers = layer_bytes(kase);
  StepPeak moment = standing(kase, rank, zero);
  StepPeak worst;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    moment.layer = l;
    moment.kept += layers[l].input + layers[l].saved;
    moment.own = layers[l].backward - layers[l].saved;
    if (zero >= 2) moment.unreduced = layers[l].weights + gradient_on_its_way(kase, layers, l, zero);
    if (zero >= 3) moment.gathered_weights = layers[l].weights + weights_at(layers, l - 1);
    if (moment.total() >= worst.total()) worst = moment;
  }
  return worst;
}

std::int64_t step_bytes(const cases::Case& kase, int rank, int zero) {
  const std::int64_t scattered = sum_of(reduce_scatter_bytes(kase, rank));
  const std::vector<std::int64_t> gathers = all_gather_bytes(kase, rank);
  if (zero == 3) return 2 * sum_of(gathers) - gathers.back() + scattered;
  return (zero == 2 ? kase.micro_batches : 1) * scattered + sum_of(gathers);
}

cases::Case node_of(const cases::Case& kase) {
  cases::Case node = kase;
  node.ranks = std::min(kase.cluster.ranks_per_node, kase.ranks);
  return node;
}

cases::Case replicas_of(const cases::Case& kase) {
  cases::Case replicas = kase;
  replicas.ranks = kase.ranks / node_of(kase).ranks;
  replicas.cluster.ranks_per_node = 1;
  return replicas;
}

StepPeak hybrid_peak(const cases::Case& kase, int rank) {
  const cases::Case node = node_of(kase);
  return step_peak(node, rank % node.ranks, 3);
}

HybridBytes hybrid_bytes(const cases::Case& kase, int rank) {
  const cases::Case node = node_of(kase), replicas = replicas_of(kase);
  HybridBytes sent{step_bytes(node, rank % node.ranks, 3), 0};
  for (const std::int64_t part : part_bytes(node, rank % node.ranks)) {
    sent.between += all_reduce_bytes(replicas, part / 4, rank / node.ranks);
  }
  return sent;
}

}  // namespace shardlings::grading::formulas

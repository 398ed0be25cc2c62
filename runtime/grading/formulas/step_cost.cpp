#include "grading/formulas/step_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "grading/formulas/sharding.h"

namespace shardlings::grading::formulas {
namespace {

using judge::Formula;
using judge::named;

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
  peak.zero = zero;
  peak.micro_batches = kase.micro_batches;
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

Formula<Bytes> StepPeak::formula(const char* ranks) const {
  std::vector<Formula<Bytes>> terms;
  const auto add = [&](std::string name, std::int64_t bytes) {
    if (bytes > 0) terms.push_back(named(std::move(name), Bytes(bytes)));
  };
  const auto divided = [&](const char* name, bool is_divided) {
    return is_divided ? fmt::format("{}/{}", name, ranks) : std::string(name);
  };
  add(divided("weights", zero >= 3), weights);
  add(divided("gradients", zero >= 2), gradients);
  add(divided("moments", zero >= 1), optimizer);
  add("batch and loss", batch);
  add(fmt::format("activations of layers 0-{}{}", layer, micro_batches > 1 ? " of one micro-batch" : ""), kept);
  add(fmt::format("what backward of layer {} needs", layer), own);
  add("two units of weights", gathered_weights);
  add(zero >= 3 ? "two of gradients" : "two buckets", unreduced);
  return sum(terms);
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

Formula<Bytes> step_bytes(const cases::Case& kase, int rank, int zero, const char* ranks) {
  const std::vector<LayerBytes> layers = layer_bytes(kase);
  const std::vector<std::int64_t> gathers = all_gather_bytes(kase, rank);
  const Formula<Bytes> scatter = named("reduce-scatters", Bytes(sum_of(reduce_scatter_bytes(kase, rank))));
  const Formula<Bytes> gather = named("all-gathers", Bytes(sum_of(gathers)));
  const Formula<Bytes> weights = named(zero >= 2 ? "weights" : "gradients", Bytes(weight_bytes(layers)));
  const Formula<Count> share = share_of_others(named(ranks, kase.ranks));
  if (zero == 3) {
    const Formula<Bytes> last = named("those of layer L-1", Bytes(layers.back().weights));
    const Formula<Bytes> last_gather = named("that of layer L-1", Bytes(gathers.back()));
    return simplest(share * (3 * weights - last), 2 * gather - last_gather + scatter);
  }
  if (zero < 2) return simplest(2 * share * weights, scatter + gather);
  const Formula<Count> m = named("m", kase.micro_batches);
  const char* scatters = kase.micro_batches > 1 ? "m reduce-scatters" : "1 reduce-scatter";
  const Formula<Count> calls = named(scatters, kase.micro_batches) + named("1 all-gather", 1);
  return simplest(calls * share * weights, m * scatter + gather);
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
  const std::vector<std::int64_t> parts = part_bytes(node, rank % node.ranks);
  std::vector<Formula<Bytes>> sent;
  for (const std::int64_t part : parts) {
    sent.emplace_back(Bytes(all_reduce_bytes(replicas, part / judge::kBytesOfF32, rank / node.ranks)));
  }
  const Formula<Count> share = share_of_others(named("R", replicas.ranks));
  return {step_bytes(node, rank % node.ranks, 3, "n_node"),
          simplest(2 * share * named("this rank's parts", Bytes(sum_of(parts))),
                   called("2 (R-1)/R of this rank's part of each layer", sum(sent)))};
}

}  // namespace shardlings::grading::formulas

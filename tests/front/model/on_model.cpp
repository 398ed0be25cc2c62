#include "front/model/on_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "api/access.h"
#include "api/harness_calls.h"

namespace shardlings::model_test {

using detail::Access;

model::ModelSpec mlp(int layers, Count hidden, Count outputs, Count sequence) {
  model::ModelSpec spec;
  spec.layers = layers;
  spec.hidden = hidden;
  spec.outputs = outputs;
  spec.sequence = sequence;
  return spec;
}

model::ModelSpec gpt(int layers, Count hidden, int heads, Count vocabulary, Count sequence) {
  model::ModelSpec spec = mlp(layers, hidden, vocabulary, sequence);
  spec.family = model::ModelSpec::Family::gpt;
  spec.heads = heads;
  return spec;
}

cases::Case case_of(const model::ModelSpec& spec, Count batch, int micro_batches) {
  cases::Case kase;
  kase.model = spec;
  kase.batch = batch;
  kase.micro_batches = micro_batches;
  return kase;
}

namespace {

world::Options options() {
  world::Options chosen;
  chosen.poison_empty = true;
  chosen.cluster.table = {Nanos(1000), Nanos(2000), Nanos(300), Nanos(70)};
  return chosen;
}

}  // namespace

front::RunReport on_rank(const std::function<void(Rank&)>& body) {
  return support::on_rank(options(), body);
}

std::string error_of(const std::function<void(Rank&)>& body) {
  return support::error_on_rank(options(), body);
}

const front::Counters& counters_of(Rank& rank) {
  return front_of(rank).rank().counters();
}

front::Ledger& ledger_of(Rank& rank) {
  return front_of(rank).memory().ledger(front::Memory::device);
}

Bytes live_of(Rank& rank) {
  return ledger_of(rank).live();
}

Nanos now_of(Rank& rank) {
  return front_of(rank).rank().now();
}

Tensor put(Rank& rank, Shape shape, const std::vector<float>& values, Kind kind) {
  return detail::harness::load(rank, std::span(values), shape, DType::f32, kind);
}
Tensor put(Rank& rank, Shape shape, const std::vector<std::int32_t>& values) {
  return detail::harness::load(rank, std::span(values), shape, DType::i32, Kind::other);
}

std::vector<float> get(ConstView view) {
  return detail::harness::values_of(view);
}

Layers get_layers(const std::vector<Tensor>& tensors) {
  Layers layers;
  for (const Tensor& tensor : tensors) {
    const std::vector<float> values = get(tensor);
    layers.emplace_back(values.begin(), values.end());
  }
  return layers;
}

OnDevice::OnDevice(Rank& rank, detail::RankModel of, const Layers& weights)
    : own(std::make_unique<detail::RankModel>(std::move(of))),
      model(Access::model(own.get())),
      loss(rank.zeros(1, Kind::other)) {
  detail::harness::add_model(rank, *own);
  const bool adam = own->structure->spec.optimizer == model::ModelSpec::Optimizer::adam;
  for (const std::vector<double>& layer : weights) {
    const std::vector<float> rounded(layer.begin(), layer.end());
    const auto size = static_cast<Count>(layer.size());
    state.weights.push_back(put(rank, size, rounded, Kind::parameter));
    state.grads.push_back(rank.zeros(size, Kind::gradient));
    state.optimizer.emplace_back();
    if (!adam) continue;
    state.optimizer.back().m = rank.zeros(size, Kind::optimizer);
    state.optimizer.back().v = rank.zeros(size, Kind::optimizer);
  }
}

Layers weights_of(const cases::Case& kase) {
  Layers weights;
  const auto layers = static_cast<int>(model::make_structure(kase.model).layers.size());
  for (int l = 0; l < layers; ++l) {
    const std::vector<float> layer = cases::weights_of(kase, l);
    weights.emplace_back(layer.begin(), layer.end());
  }
  return weights;
}

Tensor inputs_of(Rank& rank, const cases::Case& kase, const cases::MicroData& data) {
  const model::ModelSpec& spec = kase.model;
  if (spec.family == model::ModelSpec::Family::gpt) return put(rank, {spec.sequence, kase.batch}, data.ids);
  return put(rank, {spec.sequence, kase.batch, spec.hidden}, data.inputs);
}

Tensor targets_of(Rank& rank, const cases::Case& kase, const cases::MicroData& data) {
  return put(rank, {kase.model.sequence, kase.batch}, data.targets);
}

void train_micro(Rank& rank, OnDevice& on, const cases::Case& kase, const cases::MicroData& data, Count tokens,
                 bool recompute) {
  const auto layers = static_cast<std::size_t>(on.model.num_layers());
  std::vector<Tensor> x(layers + 1);
  std::vector<Saved> saved(layers);
  x[0] = inputs_of(rank, kase, data);
  const Tensor targets = targets_of(rank, kase, data);
  for (std::size_t l = 0; l < layers; ++l) {
    x[l + 1] = on.model.forward(static_cast<int>(l), on.state.weights[l], x[l], recompute ? nullptr : &saved[l]);
  }
  Tensor grad = on.model.loss(std::move(x[layers]), targets, tokens, on.loss);
  for (std::size_t l = layers; l-- > 0;) {
    if (recompute) on.model.forward(static_cast<int>(l), on.state.weights[l], x[l], &saved[l]);
    grad = on.model.backward(static_cast<int>(l), on.state.weights[l], x[l], std::move(saved[l]), std::move(grad),
                             on.state.grads[l]);
    x[l] = {};
  }
  EXPECT_EQ(static_cast<bool>(grad), kase.model.family == model::ModelSpec::Family::mlp);
}

void update(Rank& rank, OnDevice& on, float clip) {
  Tensor factor;
  if (clip > 0) {
    Tensor squares = rank.zeros(1, Kind::other);
    for (const Tensor& grad : on.state.grads) add_squares(squares, grad);
    factor = clip_factor(squares, clip);
  }
  for (std::size_t l = 0; l < on.state.weights.size(); ++l) {
    on.model.update(static_cast<int>(l), on.state.weights[l], on.state.grads[l], on.state.optimizer[l], factor);
  }
}

void expect_within(const Layers& got, const Layers& want, const Layers& tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t l = 0; l < want.size(); ++l) {
    ASSERT_EQ(got[l].size(), want[l].size()) << what << " of layer " << l;
    for (std::size_t i = 0; i < want[l].size(); ++i) {
      if (std::abs(got[l][i] - want[l][i]) <= tolerance[l][i]) continue;
      ADD_FAILURE() << what << " of layer " << l << ": element " << i << " is " << got[l][i] << ", not " << want[l][i]
                    << " (allowed " << tolerance[l][i] << ")";
      return;
    }
  }
}

void expect_close(const Layers& got, const Layers& want, double tolerance, const std::string& what) {
  Layers allowed = want;
  for (std::vector<double>& layer : allowed) {
    double largest = 0;
    for (const double value : layer) largest = std::max(largest, std::abs(value));
    std::fill(layer.begin(), layer.end(), tolerance * largest);
  }
  expect_within(got, want, allowed, what);
}

}  // namespace shardlings::model_test

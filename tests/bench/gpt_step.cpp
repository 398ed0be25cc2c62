// A training step of a small GPT on one rank: 4 layers, hidden 256, 4 heads, 64 positions, 8 sequences, vocabulary 256,
// f32, Adam. Model FLOPs as usual: 6 for each weight and token, and attention's 12 layers hidden positions a token.
//
// To compare with another framework, give both the same BLAS and one thread (OPENBLAS_NUM_THREADS=1).
#include <benchmark/benchmark.h>

#include "api/access.h"
#include "api/harness_calls.h"
#include "api/rank_model.h"
#include "shardlings/puzzle.h"
#include "world/world.h"

namespace {

using namespace shardlings;

constexpr Count kBatch = 8;

model::ModelSpec spec() {
  model::ModelSpec spec;
  spec.family = model::ModelSpec::Family::gpt;
  spec.layers = 4;
  spec.hidden = 256;
  spec.outputs = 256;
  spec.heads = 4;
  spec.sequence = 64;
  spec.optimizer = model::ModelSpec::Optimizer::adam;
  spec.lr = 3e-4F;
  return spec;
}

/// Token ids around the middle of the vocabulary.
Tensor ids(Rank& rank, std::uint64_t seed) {
  Tensor x = rank.empty({spec().sequence, kBatch}, Kind::other);
  random_normal(x, seed, 0, 20);
  Tensor middle = rank.empty(x.size(), Kind::other);
  fill(middle, static_cast<float>(spec().outputs) / 2);
  add(x, middle);
  return cast(x, DType::i32);
}

TrainState state_of(Rank& rank, const Model& model) {
  TrainState state;
  for (int l = 0; l < model.num_layers(); ++l) {
    const Count n = model.size(l);
    state.weights.push_back(rank.empty(n, Kind::parameter));
    random_normal(state.weights.back(), 1, model.range(l).begin, 0.02F);
    state.grads.push_back(rank.zeros(n, Kind::gradient));
    state.optimizer.push_back({rank.zeros(n, Kind::optimizer), rank.zeros(n, Kind::optimizer), 0});
  }
  return state;
}

void step(const Model& model, TrainState& state, ConstView inputs, ConstView targets, View loss) {
  const int layers = model.num_layers();
  const auto n = static_cast<std::size_t>(layers);
  std::vector<Tensor> x(n + 1);
  std::vector<Saved> saved(n);
  x[0] = clone(inputs);
  for (int l = 0; l < layers; ++l) {
    const auto i = static_cast<std::size_t>(l);
    fill(state.grads[i], 0);
    x[i + 1] = model.forward(l, state.weights[i], x[i], &saved[i]);
  }
  Tensor grad = model.loss(std::move(x[n]), targets, targets.size(), loss);
  for (int l = layers - 1; l >= 0; --l) {
    const auto i = static_cast<std::size_t>(l);
    grad = model.backward(l, state.weights[i], x[i], std::move(saved[i]), std::move(grad), state.grads[i]);
    x[i] = {};
    model.update(l, state.weights[i], state.grads[i], state.optimizer[i]);
  }
}

void gpt_step(benchmark::State& timer) {
  const model::ModelStructure structure = model::make_structure(spec());
  const auto report = world::run({}, [&](Rank& rank) {
    detail::RankModel own{std::make_shared<const model::ModelStructure>(structure), {}};
    detail::harness::add_model(rank, own);
    const Model model = detail::Access::model(&own);
    TrainState state = state_of(rank, model);
    const Tensor inputs = ids(rank, 2);
    const Tensor targets = ids(rank, 3);
    Tensor loss = rank.zeros(1, Kind::other);
    for (int warm = 0; warm < 3; ++warm) step(model, state, inputs, targets, loss);
    for (auto _ : timer) step(model, state, inputs, targets, loss);
  });
  if (report.failure) timer.SkipWithError(report.failure->message.c_str());
  const Count tokens = structure.spec.sequence * kBatch;
  const Count attention = 12 * structure.spec.layers * structure.spec.hidden * structure.spec.sequence;
  const auto flops = static_cast<double>((6 * structure.total + attention) * tokens);
  timer.counters["FLOP/s"] = benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK(gpt_step)->Unit(benchmark::kMillisecond)->UseRealTime()->MinTime(5);

}  // namespace

BENCHMARK_MAIN();

// A training step of a GPT that fills a GPU: mixed precision, bf16 weights and activations, f32 gradients, master
// weights and Adam. PyTorch's figures for the same model come from gpt_step.py in the same run.
//
// 12 blocks, hidden 2048, 16 heads, 1024 positions, 8 sequences, vocabulary 50304: 0.71 G parameters. Model FLOPs as
// usual: 6 for each weight and token, and attention's 12 layers hidden positions a token.
//
// The instruments' price is the difference to the same step without trace and misuse detection.
#include <fmt/format.h>

#include "api/access.h"
#include "api/harness_calls.h"
#include "api/rank_model.h"
#include "bench/gpu/bench.h"
#include "shardlings/puzzle.h"
#include "world/world.h"

namespace shardlings::bench {
namespace {

struct Size {
  model::ModelSpec spec;
  Count batch = 8;
};

Size size_of_model(const Place& place) {
  Size size;
  size.spec.family = model::ModelSpec::Family::gpt;
  size.spec.layers = static_cast<int>(place.size(12, 2));
  size.spec.hidden = place.size(2048, 32);
  size.spec.outputs = place.size(50304, 64);
  size.spec.heads = static_cast<int>(place.size(16, 2));
  size.spec.sequence = place.size(1024, 8);
  size.spec.optimizer = model::ModelSpec::Optimizer::adam;
  size.spec.lr = 3e-4F;
  size.batch = place.size(8, 2);
  return size;
}

/// Token ids around the middle of the vocabulary.
Tensor ids(Rank& rank, const Size& size, std::uint64_t seed) {
  Tensor x = rank.empty({size.spec.sequence, size.batch}, Kind::other);
  random_normal(x, seed, 0, static_cast<float>(size.spec.outputs) / 16);
  Tensor middle = rank.empty(x.size(), Kind::other);
  fill(middle, static_cast<float>(size.spec.outputs) / 2);
  add(x, middle);
  return cast(x, DType::i32);
}

/// One rank's training: of each layer the weights that it computes with, and what the optimizer has.
class Training {
 public:
  Training(Rank& rank, const Model& model, const Size& size)
      : model_(model), inputs_(ids(rank, size, 2)), targets_(ids(rank, size, 3)), loss_(rank.zeros(1, Kind::other)) {
    for (int l = 0; l < model.num_layers(); ++l) {
      const Count n = model.size(l);
      master_.push_back(rank.empty(n, Kind::optimizer));
      random_normal(master_.back(), 1, model.range(l).begin, 0.02F);
      weights_.push_back(cast(master_.back(), DType::bf16));
      grads_.push_back(rank.zeros(n, Kind::gradient));
      optimizer_.push_back({rank.zeros(n, Kind::optimizer), rank.zeros(n, Kind::optimizer), 0});
    }
  }

  void step() {
    const auto layers = weights_.size();
    std::vector<Tensor> x(layers + 1);
    std::vector<Saved> saved(layers);
    x[0] = clone(inputs_);
    for (std::size_t l = 0; l < layers; ++l) {
      fill(grads_[l], 0);
      x[l + 1] = model_.forward(static_cast<int>(l), weights_[l], x[l], &saved[l]);
    }
    Tensor grad = model_.loss(std::move(x[layers]), targets_, targets_.size(), loss_);
    for (std::size_t l = layers; l-- > 0;) {
      const int layer = static_cast<int>(l);
      grad = model_.backward(layer, weights_[l], x[l], std::move(saved[l]), std::move(grad), grads_[l]);
      x[l] = {};
      model_.update(layer, master_[l], grads_[l], optimizer_[l]);
      cast_into(weights_[l], master_[l]);
    }
  }

  ConstView loss() const { return loss_; }

 private:
  const Model& model_;
  Tensor inputs_, targets_, loss_;
  std::vector<Tensor> master_, weights_, grads_;
  std::vector<OptimizerState> optimizer_;
};

/// Seconds of a step.
double step(const Place& place, const model::ModelStructure& structure, const Size& size, bool instruments) {
  world::Options options;
  options.trace = instruments;
  options.checks = instruments;
  use_backend(options, place.backend);
  double seconds = 0;
  const auto report = world::run(options, [&](Rank& rank) {
    detail::RankModel own{std::make_shared<const model::ModelStructure>(structure), {}};
    detail::harness::add_model(rank, own);
    const Model model = detail::Access::model(&own);
    Training training(rank, model, size);
    seconds = seconds_of([&] { rank.read(training.loss()); }, [&] { training.step(); }, place.is_trial);
  });
  if (report.failure) throw std::runtime_error(report.failure->message);
  return seconds;
}

void gpt_step(const Place& place) {
  constexpr double kMilli = 1e-3, kTera = 1e12;
  const Size size = size_of_model(place);
  const model::ModelStructure structure = model::make_structure(size.spec);
  const double with = step(place, structure, size, true), without = step(place, structure, size, false);
  const Count tokens = size.spec.sequence * size.batch;
  const Count attention = 12 * size.spec.layers * size.spec.hidden * size.spec.sequence;
  const auto flops = static_cast<double>((6 * structure.total + attention) * tokens);
  print(
      fmt::format("GPT step, {:.2f} G parameters, bf16, {} tokens", static_cast<double>(structure.total) / 1e9, tokens),
      with / kMilli, "ms");
  print("GPT step, model FLOPs", flops / with / kTera, "TFLOP/s");
  print("instruments on, beside off (at most 102 %)", with / kMilli, "ms", without / kMilli, "off");
}

}  // namespace
}  // namespace shardlings::bench

int main(int argc, char** argv) {
  return shardlings::bench::run(argc, argv, 1, shardlings::bench::gpt_step);
}

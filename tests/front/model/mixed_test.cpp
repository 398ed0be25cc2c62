// Models in bf16: against the judge's training, which rounds in the same places, and against f32.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "front/model/on_model.h"
#include "grading/reference/reference.h"
#include "grading/reference/trainer.h"

namespace shardlings::model_test {
namespace {

using cases::Case;
using grading::reference::Precision;

/// Weights, activations and (but for f32) gradients in bf16.
struct Mixed {
  Mixed(Rank& rank, const model::ModelStructure& structure, const Case& kase, DType grads)
      : on(rank, structure, weights_of(kase)) {
    for (std::size_t l = 0; l < on.state.weights.size(); ++l) {
      const Count size = on.state.weights[l].size();
      master.push_back(std::move(on.state.weights[l]));
      on.state.weights[l] = cast(master[l], DType::bf16);
      on.state.grads[l] = rank.zeros(size, Kind::gradient, grads);
    }
  }

  void train(Rank& rank, const Case& kase, int micro) {
    const auto data = cases::micro_of(kase, 0, micro);
    const auto layers = static_cast<std::size_t>(on.model.num_layers());
    std::vector<Tensor> x(layers + 1);
    std::vector<Saved> saved(layers);
    x[0] = inputs_of(rank, kase, data);
    if (x[0].dtype() == DType::f32) x[0] = cast(x[0], DType::bf16);
    const Tensor targets = targets_of(rank, kase, data);
    for (std::size_t l = 0; l < layers; ++l) {
      x[l + 1] = on.model.forward(static_cast<int>(l), on.state.weights[l], x[l], &saved[l]);
      EXPECT_EQ(x[l + 1].dtype(), DType::bf16);
    }
    Tensor grad = on.model.loss(std::move(x[layers]), targets, cases::tokens_of_step(kase), on.loss);
    for (std::size_t l = layers; l-- > 0;) {
      grad = on.model.backward(static_cast<int>(l), on.state.weights[l], x[l], std::move(saved[l]), std::move(grad),
                               on.state.grads[l]);
      EXPECT_TRUE(!grad || grad.dtype() == DType::bf16);
    }
  }

  OnDevice on;
  std::vector<Tensor> master;
};

Layers as_f32(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> wide;
  for (const Tensor& tensor : tensors) wide.push_back(cast(tensor, DType::f32));
  return get_layers(wide);
}

/// The largest share of its tolerance that any number uses.
double used(const Layers& got, const Layers& want, const Layers& tolerance) {
  double most = 0;
  for (std::size_t l = 0; l < want.size(); ++l) {
    for (std::size_t i = 0; i < want[l].size(); ++i) {
      if (got[l][i] == want[l][i]) continue;
      const double share = std::abs(got[l][i] - want[l][i]) / tolerance[l][i];
      if (std::isnan(share)) return share;
      most = std::max(most, share);
    }
  }
  return most;
}

double used_by_a_step(const Case& kase, DType grads) {
  const auto structure = model::make_structure(kase.model);
  const grading::reference::Reference expected = grading::reference::train_reference(kase, Precision::mixed);
  double most = 0;
  on_rank([&](Rank& rank) {
    Mixed mixed(rank, structure, kase, grads);
    for (int micro = 0; micro < kase.micro_batches; ++micro) mixed.train(rank, kase, micro);
    most = used(as_f32(mixed.on.state.grads), expected.grads, expected.grads_tolerance);
    EXPECT_NEAR(get(mixed.on.loss)[0], expected.loss, expected.loss_tolerance / 4);
  });
  return most;
}

Case random_case(std::uint64_t seed) {
  const auto pick = [&](std::uint64_t i, Count least, Count most) {
    return least + static_cast<Count>(below_at(static_cast<std::uint32_t>(most - least + 1), seed, i, 1));
  };
  const bool is_gpt = seed % 2 == 0;
  const Count heads = pick(1, 1, 3);
  Case kase = is_gpt ? case_of(gpt(static_cast<int>(pick(0, 1, 2)), heads * pick(2, 2, 6), static_cast<int>(heads),
                                   pick(3, 5, 20), pick(4, 2, 8)),
                               pick(5, 1, 3))
                     : case_of(mlp(static_cast<int>(pick(0, 1, 4)), pick(2, 3, 18), pick(3, 2, 9), pick(4, 2, 8)),
                               pick(5, 1, 3), static_cast<int>(pick(6, 1, 2)));
  kase.seed = seed;
  kase.uneven_tokens = seed % 3 == 0;
  return kase;
}

// A quarter of the tolerance is what a right solution may use.
TEST(Mixed, GradientsAreTheJudges) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    EXPECT_LE(used_by_a_step(random_case(seed), DType::bf16), 0.25) << "model " << seed;
  }
}

// Another computation, more exact where micro-batches cancel each other.
TEST(Mixed, GradientsMayBeAddedInF32) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    EXPECT_LE(used_by_a_step(random_case(seed), DType::f32), 0.5) << "model " << seed;
  }
}

// Rounding is not noise: a computation in f32 is further away from the judge's than one in bf16.
TEST(Mixed, TheJudgeKnowsWhereNumbersAreRounded) {
  const Case kase = case_of(mlp(4, 16, 8, 8), 2);
  const auto mixed = grading::reference::train<double>(kase, 0, Precision::mixed);
  const auto full = grading::reference::train<double>(kase);
  const grading::reference::Reference expected = grading::reference::train_reference(kase, Precision::mixed);
  EXPECT_EQ(used(mixed.grads, expected.grads, expected.grads_tolerance), 0);
  EXPECT_GT(used(full.grads, expected.grads, expected.grads_tolerance), 4 * used_by_a_step(kase, DType::bf16));
}

TEST(Mixed, TheJudgeRoundsAsTheRuntime) {
  on_rank([&](Rank& rank) {
    Tensor x = rank.empty(4000, Kind::other);
    random_normal(x, 3, 0, 1);
    std::vector<float> values = get(x);
    for (const float v : {1.00390625F, 1.01171875F, 3.3895e38F, 3.4e38F, 1e-40F, 4.6e-41F, -0.0F}) values.push_back(v);
    const std::vector<float> rounded =
        get(cast(cast(put(rank, static_cast<Count>(values.size()), values), DType::bf16), DType::f32));
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(static_cast<double>(rounded[i]), grading::reference::nearest_bf16(static_cast<double>(values[i])))
          << values[i];
    }
  });
}

/// Overflow flag, norm, clip factor and update of all layers: nothing of it is read by the program.
void update_on_device(Rank& rank, Mixed& mixed, const model::ModelSpec& spec) {
  Tensor overflow = rank.zeros(1, Kind::other), squares = rank.zeros(1, Kind::other);
  for (const Tensor& grad : mixed.on.state.grads) {
    flag_nonfinite(overflow, grad);
    add_squares(squares, grad);
  }
  const Tensor factor = clip_factor(squares, spec.clip);
  for (std::size_t l = 0; l < mixed.master.size(); ++l) {
    OptimizerState& moments = mixed.on.state.optimizer[l];
    adam(mixed.master[l], mixed.on.state.grads[l], moments.m, moments.v, {.lr = spec.lr, .eps = spec.eps}, factor,
         overflow);
    cast_into(mixed.on.state.weights[l], mixed.master[l]);
  }
}

Layers moments_of(Mixed& mixed, Tensor OptimizerState::*moment) {
  Layers layers;
  for (OptimizerState& of_layer : mixed.on.state.optimizer) {
    const std::vector<float> values = get(of_layer.*moment);
    layers.emplace_back(values.begin(), values.end());
  }
  return layers;
}

Case clipped_case(int layers) {
  model::ModelSpec spec = mlp(layers, 13, 7, 6);
  spec.optimizer = model::ModelSpec::Optimizer::adam;
  spec.lr = 2e-4F;
  spec.eps = 1e-5F;
  spec.clip = 0.1F;
  return case_of(spec, 2);
}

TEST(Mixed, AnUpdateIsDecidedOnTheDevice) {
  for (int layers = 1; layers <= 4; ++layers) {
    const Case kase = clipped_case(layers);
    const auto structure = model::make_structure(kase.model);
    const grading::reference::Reference expected = grading::reference::train_reference(kase, Precision::mixed);
    on_rank([&](Rank& rank) {
      Mixed mixed(rank, structure, kase, DType::bf16);
      mixed.train(rank, kase, 0);
      const auto reads = counters_of(rank).host_reads;
      update_on_device(rank, mixed, kase.model);
      EXPECT_EQ(counters_of(rank).host_reads, reads);
      EXPECT_LE(used(moments_of(mixed, &OptimizerState::m), expected.m, expected.m_tolerance), 0.25);
      EXPECT_LE(used(moments_of(mixed, &OptimizerState::v), expected.v, expected.v_tolerance), 0.25);
      EXPECT_LE(used(get_layers(mixed.master), expected.weights, expected.weights_tolerance), 0.25);
      EXPECT_GT(used(expected.weights_before, expected.weights, expected.weights_tolerance), 10);
    });
  }
}

TEST(Mixed, AStepThatOverflowsChangesNothing) {
  const Case kase = clipped_case(3);
  const auto structure = model::make_structure(kase.model);
  on_rank([&](Rank& rank) {
    Mixed mixed(rank, structure, kase, DType::bf16);
    mixed.train(rank, kase, 0);
    const Layers before = get_layers(mixed.master), weights = as_f32(mixed.on.state.weights);
    fill(mixed.on.state.grads[1].part({5, 6}), INFINITY);
    update_on_device(rank, mixed, kase.model);
    EXPECT_EQ(get_layers(mixed.master), before);
    EXPECT_EQ(as_f32(mixed.on.state.weights), weights);
    EXPECT_EQ(moments_of(mixed, &OptimizerState::m)[1], std::vector<double>(before[1].size(), 0.0));
  });
}

TEST(Mixed, MatrixProductsRunAtTheSpeedOfBf16) {
  const auto time = [](DType dtype) {
    world::Options options;
    options.cluster.uses_table = false;
    options.cluster.roofline = {1e9, 4e9, 1e30, Nanos(0)};
    const auto structure = model::make_structure(mlp(1, 40, 30, 4));
    const auto report = world::run(options, [&](Rank& rank) {
      OnDevice on(rank, structure, {std::vector<double>(static_cast<std::size_t>(structure.total), 0.1)});
      const Tensor weights = cast(on.state.weights[0], dtype);
      const Tensor x = rank.zeros({4, 1, 40}, Kind::other, dtype);
      Tensor y = on.model.forward(0, weights, x, nullptr);
    });
    EXPECT_FALSE(report.failure);
    return report.ranks[0].counters.end.value();
  };
  const std::int64_t product = 2 * 4 * 40 * 30, bias = 4 * 30;  // flops; the bias is no matrix product
  EXPECT_EQ(time(DType::f32), product + bias);
  EXPECT_EQ(time(DType::bf16), product / 4 + bias);
}

TEST(Mixed, TypesThatDoNotFitAreNamed) {
  const auto structure = model::make_structure(mlp(1, 4, 3, 2));
  const auto error = [&](DType w, DType x, DType grads) {
    return error_of([&](Rank& rank) {
      OnDevice on(rank, structure, {std::vector<double>(static_cast<std::size_t>(structure.total), 0.1)});
      const Tensor weights = rank.zeros(structure.total, Kind::parameter, w),
                   in = rank.zeros({2, 1, 4}, Kind::other, x);
      Tensor grad_weights = rank.zeros(structure.total, Kind::gradient, grads);
      Saved saved;
      Tensor y = on.model.forward(0, weights, in, &saved);
      on.model.backward(0, weights, in, std::move(saved), std::move(y), grad_weights);
    });
  };
  using enum DType;
  EXPECT_EQ(error(bf16, bf16, bf16) + error(bf16, bf16, f32) + error(f32, f32, f32), "");
  EXPECT_NE(error(bf16, f32, f32).find("the weights are bf16, and x is f32; both must be f32, or both bf16"),
            std::string::npos);
  EXPECT_NE(error(f32, bf16, f32).find("the weights are f32, and x is bf16"), std::string::npos);
  EXPECT_NE(error(f32, f32, bf16).find("gradients of f32 weights cannot be added to bf16"), std::string::npos);
}

TEST(Mixed, AdamReadsGradientsOfBf16) {
  on_rank([](Rank& rank) {
    const auto updated = [&](DType dtype) {
      Tensor w = rank.zeros(50, Kind::parameter), m = rank.zeros(50, Kind::optimizer),
             v = rank.zeros(50, Kind::optimizer);
      Tensor grad = rank.empty(50, Kind::gradient);
      random_normal(grad, 5, 0, 1);
      const Tensor rounded = cast(cast(grad, DType::bf16), dtype);
      adam(w, rounded, m, v, {.lr = 0.1F});
      return get(w);
    };
    EXPECT_EQ(updated(DType::bf16), updated(DType::f32));
  });
}

}  // namespace
}  // namespace shardlings::model_test

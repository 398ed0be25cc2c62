#include "grading/formulas/mixed_step.h"

#include <algorithm>
#include <cmath>

#include "case/data.h"
#include "grading/reference/noise.h"
#include "model/structure.h"

namespace shardlings::grading::formulas {
namespace {

constexpr double kRoundingTo16Bits = 0x1p-9;

template <class Real>
reference::LayersOf<Real> zeros_as(const reference::Layers& layers) {
  reference::LayersOf<Real> all;
  for (const std::vector<double>& layer : layers) all.emplace_back(layer.size(), Real(0));
  return all;
}

/// The same tensor of all runs.
std::vector<const std::vector<float>*> picked_of(const std::vector<MixedGradient<float>>& runs, auto pick) {
  std::vector<const std::vector<float>*> tensors;
  for (const MixedGradient<float>& run : runs) tensors.push_back(&pick(run));
  return tensors;
}

double largest_in(const std::vector<double>& values, Range range) {
  double largest = 0;
  for (Count i = range.begin; i < range.end; ++i) {
    largest = std::max(largest, std::abs(values[static_cast<std::size_t>(i)]));
  }
  return largest;
}

/// One for each matrix or vector of each layer.
reference::Layers tolerances_of_step(const cases::Case& kase, const reference::Layers& exact,
                                     const std::vector<MixedGradient<float>>& runs) {
  const model::ModelStructure model = model::make_structure(kase.model);
  reference::Layers all;
  for (std::size_t l = 0; l < exact.size(); ++l) {
    const auto of_layer = picked_of(
        runs, [&](const auto& run) -> const auto& { return run.sum[l]; });
    std::vector<double>& tolerance = all.emplace_back(exact[l].size());
    for (const Entry& entry : model.layers[l].entries) {
      const double least = kRoundingTo16Bits * largest_in(exact[l], entry.range);
      std::fill(tolerance.begin() + entry.range.begin, tolerance.begin() + entry.range.end,
                reference::tolerance_of(exact[l], of_layer, entry.range, least));
    }
  }
  return all;
}

}  // namespace

template <class Real>
MixedGradient<Real> mixed_gradient(const cases::Case& kase, const reference::Layers& weights, std::uint64_t shake) {
  reference::Rounding<Real> rounding(shake);
  reference::LayersOf<Real> given;
  for (const std::vector<double>& layer : weights) given.emplace_back(layer.begin(), layer.end());
  MixedGradient<Real> step;
  step.sum = zeros_as<Real>(weights);
  for (int rank = 0; rank < kase.ranks; ++rank) {
    auto& local = step.local.emplace_back(zeros_as<Real>(weights));
    step.losses.push_back(reference::train_micro(kase, cases::micro_of(kase, rank, 0), cases::tokens_of_step(kase),
                                                 given, local, &rounding));
    for (std::size_t l = 0; l < local.size(); ++l) {
      for (std::size_t i = 0; i < local[l].size(); ++i) step.sum[l][i] += local[l][i];
    }
  }
  for (auto& layer : step.sum) reference::keep(&rounding, layer);
  return step;
}

MixedStep mixed_step(const cases::Case& kase, const reference::Layers& weights) {
  MixedStep step;
  step.exact = mixed_gradient<double>(kase, weights);
  std::vector<MixedGradient<float>> runs;
  for (std::uint64_t run = 1; run <= reference::kRuns; ++run) runs.push_back(mixed_gradient<float>(kase, weights, run));
  for (const MixedGradient<float>& run : runs) step.noise = std::max(step.noise, distance(run.sum, step.exact.sum));
  step.noise = (step.noise + kNoiseStep - 1) / kNoiseStep * kNoiseStep;
  step.tolerance = tolerances_of_step(kase, step.exact.sum, runs);
  const auto losses = picked_of(
      runs, [](const auto& run) -> const auto& { return run.losses; });
  for (Count rank = 0; rank < kase.ranks; ++rank) {
    const Range one = {rank, rank + 1};
    const double least = kRoundingTo16Bits * largest_in(step.exact.losses, one);
    step.loss_tolerance.push_back(reference::tolerance_of(step.exact.losses, losses, one, least));
  }
  return step;
}

template <class Real>
Count distance(const reference::LayersOf<Real>& found, const reference::Layers& exact) {
  double squares = 0, all = 0;
  for (std::size_t l = 0; l < exact.size(); ++l) {
    for (std::size_t i = 0; i < exact[l].size(); ++i) {
      const double off = static_cast<double>(found.at(l).at(i)) - exact[l][i];
      squares += off * off;
      all += exact[l][i] * exact[l][i];
    }
  }
  return static_cast<Count>(std::ceil(1e4 * std::sqrt(squares / all)));
}

SgdStep sgd_step(const cases::Case& kase, const reference::Layers& weights, const reference::Layers& grads) {
  SgdStep after{weights, weights};
  for (std::size_t l = 0; l < weights.size(); ++l) {
    for (std::size_t i = 0; i < weights[l].size(); ++i) {
      const double change = static_cast<double>(kase.model.lr) * grads.at(l).at(i);
      after.weights[l][i] -= change;
      after.tolerance[l][i] = 0x1p-21 * (std::abs(weights[l][i]) + std::abs(change));
    }
  }
  return after;
}

template MixedGradient<float> mixed_gradient<float>(const cases::Case&, const reference::Layers&, std::uint64_t);
template MixedGradient<double> mixed_gradient<double>(const cases::Case&, const reference::Layers&, std::uint64_t);
template Count distance<float>(const reference::LayersOf<float>&, const reference::Layers&);
template Count distance<double>(const reference::LayersOf<double>&, const reference::Layers&);

}  // namespace shardlings::grading::formulas

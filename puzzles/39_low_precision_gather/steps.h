// What each step of the run should leave, from the weights that the run itself had before it: so that a number which an
// earlier step has rounded the other way is no difference later, where another code would follow from it. For the
// grader.
#pragma once

#include <string>
#include <vector>

#include "case/data.h"
#include "eight_bits.h"
#include "grading/reference/noise.h"
#include "grading/reference/trainer.h"
#include "model/structure.h"

namespace shardlings {

using grading::reference::Layers;

/// The names under which the harness publishes what step `step` leaves, from 1.
inline std::string of_step(const char* what, int step) {
  return std::string(what) + " of step " + std::to_string(step);
}

/// Gradient and losses of one step with these weights, those of each rank's tokens alone as well.
template <class Real>
struct StepGradient {
  grading::reference::LayersOf<Real> sum;
  std::vector<grading::reference::LayersOf<Real>> local;
  std::vector<Real> losses;
};

template <class Real>
StepGradient<Real> gradient_at(const cases::Case& kase, const Layers& weights, std::uint64_t shake) {
  grading::reference::Rounding<Real> rounding(shake);
  grading::reference::LayersOf<Real> given;
  for (const std::vector<double>& layer : weights) given.emplace_back(layer.begin(), layer.end());
  const auto zeros = [&] {
    grading::reference::LayersOf<Real> all;
    for (const auto& layer : given) all.emplace_back(layer.size(), Real(0));
    return all;
  };
  StepGradient<Real> step;
  step.sum = zeros();
  for (int rank = 0; rank < kase.ranks; ++rank) {
    auto& local = step.local.emplace_back(zeros());
    step.losses.push_back(grading::reference::train_micro(kase, cases::micro_of(kase, rank, 0),
                                                          cases::tokens_of_step(kase), given, local, &rounding));
    for (std::size_t l = 0; l < local.size(); ++l) {
      for (std::size_t i = 0; i < local[l].size(); ++i) step.sum[l][i] += local[l][i];
    }
  }
  for (auto& layer : step.sum) grading::reference::keep(&rounding, layer);
  return step;
}

/// A step's gradient and losses in double precision, and how far careful computations may be from them: as
/// grading/reference/reference.h has it for training in 16 bits.
struct StepReference {
  StepGradient<double> exact;
  Layers tolerance;
  std::vector<double> loss_tolerance;
  Count noise = 0;  ///< the largest distance() of the careful computations
};

/// The Euclidean distance of a gradient from another, in ten-thousandths of the other's length. Roundings average out
/// in it, so that it tells weights in 8 bits from weights in 16, which no single element does.
template <class Real>
Count distance(const grading::reference::LayersOf<Real>& found, const Layers& exact) {
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

inline StepReference step_reference(const cases::Case& kase, const Layers& weights) {
  constexpr double kRoundingOfBf16 = 0x1p-9;
  StepReference step;
  step.exact = gradient_at<double>(kase, weights, 0);
  std::vector<StepGradient<float>> runs;
  for (std::uint64_t run = 1; run <= grading::reference::kRuns; ++run) {
    runs.push_back(gradient_at<float>(kase, weights, run));
  }
  const auto picked = [&](auto pick) {
    std::vector<const std::vector<float>*> tensors;
    for (const StepGradient<float>& run : runs) tensors.push_back(&pick(run));
    return tensors;
  };
  const model::ModelStructure model = model::make_structure(kase.model);
  for (std::size_t l = 0; l < weights.size(); ++l) {
    const std::vector<double>& exact = step.exact.sum[l];
    std::vector<double>& tolerance = step.tolerance.emplace_back(exact.size());
    for (const Entry& entry : model.layers[l].entries) {
      double largest = 0;
      for (Count i = entry.range.begin; i < entry.range.end; ++i) {
        largest = std::max(largest, std::abs(exact[static_cast<std::size_t>(i)]));
      }
      std::fill(
          tolerance.begin() + entry.range.begin, tolerance.begin() + entry.range.end,
          grading::reference::tolerance_of(exact, picked([&](const auto& run) -> const auto& { return run.sum[l]; }),
                                           entry.range, kRoundingOfBf16 * largest));
    }
  }
  for (const StepGradient<float>& run : runs) step.noise = std::max(step.noise, distance(run.sum, step.exact.sum));
  const auto losses = picked([](const auto& run) -> const auto& { return run.losses; });
  for (Count rank = 0; rank < kase.ranks; ++rank) {
    const double loss = std::abs(step.exact.losses[static_cast<std::size_t>(rank)]);
    step.loss_tolerance.push_back(
        grading::reference::tolerance_of(step.exact.losses, losses, {rank, rank + 1}, kRoundingOfBf16 * loss));
  }
  return step;
}

/// Plain SGD in f32, on a run's own weights and its own gradient: two roundings are between this and the run.
struct Updated {
  Layers weights, tolerance;
};
inline Updated updated(const cases::Case& kase, const Layers& weights, const Layers& grads) {
  Updated after{weights, weights};
  for (std::size_t l = 0; l < weights.size(); ++l) {
    for (std::size_t i = 0; i < weights[l].size(); ++i) {
      const double change = static_cast<double>(kase.model.lr) * grads.at(l).at(i);
      after.weights[l][i] -= change;
      after.tolerance[l][i] = 0x1p-21 * (std::abs(weights[l][i]) + std::abs(change));
    }
  }
  return after;
}

}  // namespace shardlings

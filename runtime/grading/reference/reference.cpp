#include "grading/reference/reference.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "grading/reference/noise.h"
#include "grading/reference/trainer.h"
#include "model/structure.h"

namespace shardlings::grading::reference {
namespace {

/// One rounding to bf16, relative to the largest number of a tensor: the least noise that is assumed where numbers are
/// kept in 16 bits, since any of those that it is made of may be rounded the other way.
constexpr double kRoundingOfBf16 = 0x1p-9;

double largest_of(const std::vector<double>& values, Range range) {
  double largest = 0;
  for (Count i = range.begin; i < range.end; ++i) {
    largest = std::max(largest, std::abs(values[static_cast<std::size_t>(i)]));
  }
  return largest;
}

/// a - b.
Layers difference(const Layers& a, const Layers& b) {
  Layers result = a;
  for (std::size_t l = 0; l < a.size(); ++l) {
    for (std::size_t i = 0; i < a[l].size(); ++i) result[l][i] -= b[l][i];
  }
  return result;
}

/// Computations of a case in f32, whose distances from the exact one are its noise.
class Noise {
 public:
  Noise(const cases::Case& kase, Precision precision)
      : model_(model::make_structure(kase.model)), least_(precision == Precision::mixed ? kRoundingOfBf16 : 0) {
    // In mixed precision a computation that nothing shakes rounds nearly everything as the exact one does.
    const std::uint64_t first = precision == Precision::mixed ? 1 : 0;
    for (std::uint64_t run = 0; run < kRuns; ++run) {
      runs_.push_back(train<float>(kase, first + run, precision));
    }
  }

  /// The tolerance of each number, by layer, the same for all elements of a matrix or vector. `computed` are the
  /// numbers that the layers' math has made, where `exact` are not.
  Layers tolerances(const Layers& exact, LayersOf<float> Trained<float>::*values,
                    const Layers* computed = nullptr) const {
    Layers all;
    for (std::size_t l = 0; l < model_.layers.size(); ++l) {
      const auto runs = picked([&](const auto& run) -> const auto& { return (run.*values)[l]; });
      std::vector<double>& tolerance = all.emplace_back(exact[l].size());
      for (const Entry& entry : model_.layers[l].entries) {
        const double least = least_ * largest_of((computed ? *computed : exact)[l], entry.range);
        std::fill(tolerance.begin() + entry.range.begin, tolerance.begin() + entry.range.end,
                  tolerance_of(exact[l], runs, entry.range, least));
      }
    }
    return all;
  }

  double tolerance_of_loss(double loss) const {
    std::vector<std::vector<float>> losses;
    losses.reserve(runs_.size());
    for (const Trained<float>& run : runs_) losses.push_back({run.loss});
    std::vector<const std::vector<float>*> tensors;
    for (const std::vector<float>& each : losses) tensors.push_back(&each);
    return tolerance_of({loss}, tensors, {0, 1}, least_ * std::abs(loss));
  }

  std::vector<double> tolerances_of_norms(const std::vector<double>& norms) const {
    const auto runs = picked([](const auto& run) -> const auto& { return run.norms; });
    std::vector<double> tolerance;
    for (Count step = 0; step < static_cast<Count>(norms.size()); ++step) {
      tolerance.push_back(tolerance_of(norms, runs, {step, step + 1}, least_ * norms[static_cast<std::size_t>(step)]));
    }
    return tolerance;
  }

 private:
  /// The same tensor of all runs.
  std::vector<const std::vector<float>*> picked(auto pick) const {
    std::vector<const std::vector<float>*> tensors;
    tensors.reserve(runs_.size());
    for (const Trained<float>& run : runs_) tensors.push_back(&pick(run));
    return tensors;
  }

  model::ModelStructure model_;
  double least_;
  std::vector<Trained<float>> runs_;
};

/// A gradient that is nothing but noise has a second moment of noise squared, which no few runs bound: one four times
/// as noisy is rare, but sixteen times as far off. So each v may be off by the square of what the gradient may be, told
/// from the tolerance of m.
void allow_squares_of_noise(const Layers& m_tolerance, Layers& v_tolerance) {
  const double of_m = 1 - static_cast<double>(AdamStep{}.beta1), of_v = 1 - static_cast<double>(AdamStep{}.beta2);
  for (std::size_t l = 0; l < v_tolerance.size(); ++l) {
    for (std::size_t i = 0; i < v_tolerance[l].size(); ++i) {
      const double gradient = m_tolerance[l][i] / of_m;
      v_tolerance[l][i] = std::max(v_tolerance[l][i], of_v * gradient * gradient);
    }
  }
}

}  // namespace

Reference train_reference(const cases::Case& kase, Precision precision) {
  Trained<double> exact = train<double>(kase, 0, precision);
  const Noise noise(kase, precision);
  Reference result;
  result.loss = exact.loss;
  result.loss_tolerance = noise.tolerance_of_loss(exact.loss);
  result.norms_tolerance = noise.tolerances_of_norms(exact.norms);
  result.weights_before = initial_weights<double>(kase);
  const Layers moved = difference(exact.weights, result.weights_before);
  result.grads_tolerance = noise.tolerances(exact.grads, &Trained<float>::grads);
  result.weights_tolerance = noise.tolerances(exact.weights, &Trained<float>::weights, &moved);
  result.m_tolerance = noise.tolerances(exact.m, &Trained<float>::m);
  result.v_tolerance = noise.tolerances(exact.v, &Trained<float>::v);
  allow_squares_of_noise(result.m_tolerance, result.v_tolerance);
  result.grads = std::move(exact.grads);
  result.weights = std::move(exact.weights);
  result.m = std::move(exact.m);
  result.v = std::move(exact.v);
  result.norms = std::move(exact.norms);
  result.local_grads = std::move(exact.local_grads);
  return result;
}

}  // namespace shardlings::grading::reference

#include "grading/reference/reference.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "front/model/plan.h"
#include "grading/reference/trainer.h"

namespace shardlings::grading {
namespace {

/// How much further than one honest f32 computation another may stray; see reference.h.
constexpr double kMargin = 16;
/// What f32 cannot resolve of a number of size 1, in rounding steps of 2^-24: the least noise that is assumed.
constexpr double kLeastNoise = 4 * 0x1p-24;

double noise_of(double exact, double rounded, double largest) {
  return std::max(std::abs(rounded - exact), kLeastNoise * largest);
}

/// The tolerance of each element: the same for all of a matrix or vector.
std::vector<double> tolerance_of(const detail::LayerPlan& plan, const std::vector<double>& exact,
                                 const std::vector<float>& rounded) {
  std::vector<double> tolerance(exact.size());
  for (const Entry& entry : plan.entries) {
    const auto begin = static_cast<std::size_t>(entry.range.begin), end = static_cast<std::size_t>(entry.range.end);
    double largest = 0, noise = 0;
    for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, std::abs(exact[i]));
    for (std::size_t i = begin; i < end; ++i) noise = std::max(noise, noise_of(exact[i], rounded[i], largest));
    std::fill(tolerance.begin() + entry.range.begin, tolerance.begin() + entry.range.end, kMargin * noise);
  }
  return tolerance;
}

}  // namespace

Reference train_reference(const Case& kase) {
  reference::Trained<double> exact = reference::train<double>(kase);
  const reference::Trained<float> rounded = reference::train<float>(kase);
  const detail::ModelPlan model = detail::make_plan(kase.model);
  Reference result;
  result.loss = exact.loss;
  result.loss_tolerance = kMargin * noise_of(exact.loss, static_cast<double>(rounded.loss), std::abs(exact.loss));
  result.weights_before = reference::initial_weights<double>(kase);
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    result.grads_tolerance.push_back(tolerance_of(model.layers[l], exact.grads[l], rounded.grads[l]));
    result.weights_tolerance.push_back(tolerance_of(model.layers[l], exact.weights[l], rounded.weights[l]));
  }
  result.grads = std::move(exact.grads);
  result.weights = std::move(exact.weights);
  result.local_grads = std::move(exact.local_grads);
  return result;
}

}  // namespace shardlings::grading

#include "grading/reference/reference.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "front/model/plan.h"
#include "grading/reference/trainer.h"

namespace shardlings::grading {
namespace {

using reference::Layers;
using reference::Trained;

/// How much further than honest f32 computations another may stray; see reference.h.
constexpr double kMargin = 16;
/// How many f32 computations show how far honest ones stray.
constexpr std::uint64_t kRuns = 3;
/// The least noise that is assumed, relative to the largest number of a tensor: four roundings of f32.
constexpr double kLeastNoise = 4 * 0x1p-24;

using Runs = std::vector<Trained<float>>;

double largest_of(const std::vector<double>& values, Range range) {
  double largest = 0;
  for (Count i = range.begin; i < range.end; ++i) {
    largest = std::max(largest, std::abs(values[static_cast<std::size_t>(i)]));
  }
  return largest;
}

double distance_of(const std::vector<double>& exact, const std::vector<float>& rounded, Range range) {
  double distance = 0;
  for (Count i = range.begin; i < range.end; ++i) {
    const auto at = static_cast<std::size_t>(i);
    distance = std::max(distance, std::abs(static_cast<double>(rounded[at]) - exact[at]));
  }
  return distance;
}

/// The tolerance of each weight of a layer (`values` picks gradients or weights of a run): the same for all elements
/// of a matrix or vector.
std::vector<double> tolerance_of(const detail::LayerPlan& plan, const std::vector<double>& exact, const Runs& runs,
                                 Layers<float> Trained<float>::*values, std::size_t layer) {
  std::vector<double> tolerance(exact.size());
  for (const Entry& entry : plan.entries) {
    double noise = kLeastNoise * largest_of(exact, entry.range);
    for (const Trained<float>& run : runs) {
      noise = std::max(noise, distance_of(exact, (run.*values)[layer], entry.range));
    }
    std::fill(tolerance.begin() + entry.range.begin, tolerance.begin() + entry.range.end, kMargin * noise);
  }
  return tolerance;
}

/// The tolerance of a single number; `number` picks it of a run.
double tolerance_of(double exact, const Runs& runs, auto number) {
  double noise = kLeastNoise * std::abs(exact);
  for (const Trained<float>& run : runs) noise = std::max(noise, std::abs(static_cast<double>(number(run)) - exact));
  return kMargin * noise;
}

std::vector<double> norms_tolerance_of(const std::vector<double>& norms, const Runs& runs) {
  std::vector<double> tolerance;
  for (std::size_t step = 0; step < norms.size(); ++step) {
    tolerance.push_back(tolerance_of(norms[step], runs, [step](const Trained<float>& run) { return run.norms[step]; }));
  }
  return tolerance;
}

}  // namespace

Reference train_reference(const Case& kase) {
  Trained<double> exact = reference::train<double>(kase);
  Runs runs;
  for (std::uint64_t shake = 0; shake < kRuns; ++shake) runs.push_back(reference::train<float>(kase, shake));
  const detail::ModelPlan model = detail::make_plan(kase.model);
  Reference result;
  result.loss = exact.loss;
  result.loss_tolerance = tolerance_of(exact.loss, runs, [](const Trained<float>& run) { return run.loss; });
  result.norms_tolerance = norms_tolerance_of(exact.norms, runs);
  result.weights_before = reference::initial_weights<double>(kase);
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    const detail::LayerPlan& plan = model.layers[l];
    result.grads_tolerance.push_back(tolerance_of(plan, exact.grads[l], runs, &Trained<float>::grads, l));
    result.weights_tolerance.push_back(tolerance_of(plan, exact.weights[l], runs, &Trained<float>::weights, l));
    result.m_tolerance.push_back(tolerance_of(plan, exact.m[l], runs, &Trained<float>::m, l));
    result.v_tolerance.push_back(tolerance_of(plan, exact.v[l], runs, &Trained<float>::v, l));
  }
  result.grads = std::move(exact.grads);
  result.weights = std::move(exact.weights);
  result.m = std::move(exact.m);
  result.v = std::move(exact.v);
  result.norms = std::move(exact.norms);
  result.local_grads = std::move(exact.local_grads);
  return result;
}

}  // namespace shardlings::grading

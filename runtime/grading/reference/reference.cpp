#include "grading/reference/reference.h"

#include <algorithm>
#include <utility>

#include "front/model/plan.h"
#include "grading/reference/noise.h"
#include "grading/reference/trainer.h"

namespace shardlings::grading {
namespace {

using reference::Layers;
using reference::tolerance_of;
using reference::Trained;

using Runs = std::vector<Trained<float>>;

/// The same tensor of all runs.
std::vector<const std::vector<float>*> picked(const Runs& runs, auto pick) {
  std::vector<const std::vector<float>*> tensors;
  tensors.reserve(runs.size());
  for (const Trained<float>& run : runs) tensors.push_back(&pick(run));
  return tensors;
}

/// The tolerance of each weight of a layer (`values` picks gradients or weights of a run): the same for all elements
/// of a matrix or vector.
std::vector<double> tolerance_of(const detail::LayerPlan& plan, const std::vector<double>& exact, const Runs& runs,
                                 Layers<float> Trained<float>::*values, std::size_t layer) {
  const auto tensors = picked(
      runs, [&](const auto& run) -> const auto& { return (run.*values)[layer]; });
  std::vector<double> tolerance(exact.size());
  for (const Entry& entry : plan.entries) {
    std::fill(tolerance.begin() + entry.range.begin, tolerance.begin() + entry.range.end,
              tolerance_of(exact, tensors, entry.range));
  }
  return tolerance;
}

double loss_tolerance_of(double loss, const Runs& runs) {
  std::vector<std::vector<float>> losses;
  for (const Trained<float>& run : runs) losses.push_back({run.loss});
  std::vector<const std::vector<float>*> tensors;
  for (const std::vector<float>& each : losses) tensors.push_back(&each);
  return tolerance_of({loss}, tensors, {0, 1});
}

std::vector<double> norms_tolerance_of(const std::vector<double>& norms, const Runs& runs) {
  const auto tensors = picked(
      runs, [](const auto& run) -> const auto& { return run.norms; });
  std::vector<double> tolerance;
  for (Count step = 0; step < static_cast<Count>(norms.size()); ++step) {
    tolerance.push_back(tolerance_of(norms, tensors, {step, step + 1}));
  }
  return tolerance;
}

}  // namespace

Reference train_reference(const Case& kase) {
  Trained<double> exact = reference::train<double>(kase);
  Runs runs;
  for (std::uint64_t shake = 0; shake < reference::kRuns; ++shake) runs.push_back(reference::train<float>(kase, shake));
  const detail::ModelPlan model = detail::make_plan(kase.model);
  Reference result;
  result.loss = exact.loss;
  result.loss_tolerance = loss_tolerance_of(exact.loss, runs);
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

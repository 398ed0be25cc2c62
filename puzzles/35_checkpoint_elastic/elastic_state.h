// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// The state that a run should end with or load, computed as one device would come to it, and what was found of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "elastic_plan.h"
#include "grading/formulas/elastic_training.h"
#include "grading/formulas/training.h"

namespace shardlings {

using cases::Case;
using grading::formulas::alike;
using grading::formulas::combine;
using grading::formulas::ElasticCase;
using grading::formulas::ElasticState;
using grading::formulas::ElasticTraining;
using grading::formulas::found_layers;
using grading::formulas::Phase;
using grading::judge::CheckContext;
using grading::reference::kRuns;
using grading::reference::Layers;
using grading::reference::LayersOf;
using grading::reference::tolerances_of;
using wire::Output;

inline ElasticCase elastic_case_of(const Case& kase) {
  ElasticCase of{kase, kase.integer("step_batch"), static_cast<int>(kase.integer("replicas"))};
  if (is_exact(kase)) of.exact_row = [&kase](Count number, Count size) { return exact_row(kase, number, size); };
  return of;
}

/// One device after each number of updates: in double, and as careful computations in f32 come to it.
struct OneDevice {
  std::vector<ElasticState<double>> exact;
  std::vector<std::vector<ElasticState<float>>> careful;  ///< of each such computation; none where sums are exact
};

template <class Real>
std::vector<ElasticState<Real>> trained_alone(const Case& kase, std::uint64_t shake = 0) {
  Phase all;
  all.last = kase.steps;
  all.ranks = {0};
  const std::vector<Phase> phases = {all};
  const ElasticCase of = elastic_case_of(kase);
  ElasticTraining<Real> training(of, phases, shake);
  training.run();
  std::vector<ElasticState<Real>> states;
  for (Count updates = 0; updates <= kase.steps; ++updates) states.push_back(training.after(updates));
  return states;
}

/// Computed once for each case of the judge, all of which live as long as it does.
inline const OneDevice& one_device(const Case& kase) {
  struct Kept {
    std::once_flag once{};
    OneDevice states{};
  };
  static Mutex mutex;
  static std::map<const Case*, Kept> all;
  Kept& kept = [&]() -> Kept& {
    const MutexLock lock(mutex);
    return all[&kase];
  }();
  std::call_once(kept.once, [&] {
    kept.states.exact = trained_alone<double>(kase);
    for (std::uint64_t shake = 0; shake < kRuns && !is_exact(kase); ++shake) {
      kept.states.careful.push_back(trained_alone<float>(kase, shake));
    }
  });
  return kept.states;
}

inline const ElasticState<double>& trained(const Case& kase, Count updates) {
  return one_device(kase).exact.at(static_cast<std::size_t>(updates));
}

inline Layers tolerances(const Case& kase, Count updates, const Layers& exact,
                         LayersOf<float> ElasticState<float>::*which) {
  std::vector<LayersOf<float>> runs;
  for (const auto& states : one_device(kase).careful)
    runs.push_back(states.at(static_cast<std::size_t>(updates)).*which);
  return tolerances_of(exact, runs);
}

inline bool is_adam(const Case& kase) {
  return kase.model.optimizer == model::ModelSpec::Optimizer::adam;
}

/// Outputs prefix + name + ".l" are those of one device; in exact cases bit for bit.
inline bool layers_hold(CheckContext& check, const std::string& name, Count updates, const Layers& right,
                        LayersOf<float> ElasticState<float>::*which) {
  const bool exact = is_exact(check.kase());
  const Layers tolerance = exact ? Layers() : tolerances(check.kase(), updates, right, which);
  for (std::size_t l = 0; l < right.size(); ++l) {
    const std::string full = name + "." + std::to_string(l);
    if (exact ? !check.identical(full, {right[l].begin(), right[l].end()})
              : !check.equal(full, right[l], tolerance[l])) {
      return false;
    }
  }
  return true;
}

/// Outputs prefix + "model", "m" and "v" are the state of one device after so many updates.
inline bool state_holds(CheckContext& check, const std::string& prefix, Count updates) {
  const ElasticState<double>& right = trained(check.kase(), updates);
  if (!layers_hold(check, prefix + "model", updates, right.weights, &ElasticState<float>::weights)) return false;
  if (!is_adam(check.kase())) return true;
  return layers_hold(check, prefix + "m", updates, right.m, &ElasticState<float>::m) &&
         layers_hold(check, prefix + "v", updates, right.v, &ElasticState<float>::v);
}

inline double first_of(const CheckContext& check, const std::string& name) {
  const Output* output = check.output(name);
  return output == nullptr || output->values.empty() ? std::nan("") : static_cast<double>(output->values.front());
}

/// Nothing has been loaded into this tensor: the harness had filled it with NaN.
inline bool is_untouched(const CheckContext& check, const std::string& name) {
  return std::isnan(first_of(check, name));
}

/// The weights that were loaded are those after so many updates, whatever load() has returned.
inline bool are_weights_after(const CheckContext& check, const std::string& prefix, Count updates) {
  const Layers& first = trained(check.kase(), 0).weights;
  const Layers& right = trained(check.kase(), updates).weights;
  const Layers found = found_layers(check.result(), prefix + "model");
  return alike(combine(found, -1, first), combine(right, -1, first));
}

}  // namespace shardlings

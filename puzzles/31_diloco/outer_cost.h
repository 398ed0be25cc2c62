// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// What outer steps cost, in closed form: bytes of a round, the time of a run, and the peak of a worker's memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "grading/formulas/loose_cost.h"
#include "grading/formulas/outer_training.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/step_cost.h"
#include "plan.h"

namespace shardlings {

/// As the harness has it.
inline OuterPlan outer_plan_of(const cases::Case& kase) {
  return outer_plan_of(kase, grading::formulas::number_of_layers(kase),
                       [&](int worker, int micro) { return cases::tokens_of_micro(kase, worker, micro); });
}

class OuterCost {
 public:
  using Bytes_ = grading::judge::Formula<Bytes>;
  using Time = grading::judge::Formula<Nanos>;

  OuterCost(const cases::Case& kase, int rank) : kase_(kase), rank_(rank), plan_(outer_plan_of(kase)) {
    for (const auto& layer : grading::formulas::layer_bytes(kase)) layers_.push_back(layer.weights);
  }

  Bytes weights() const { return Bytes(grading::formulas::sum_of(layers_)); }
  /// Sent by this rank in an all-reduce of everything.
  Bytes whole_sent() const { return sent_in({0, static_cast<Count>(layers_.size())}); }
  Bytes all_sent() const {
    Bytes all;
    for (int round = 0; round < rounds(); ++round) all += sent_in(fragment_of(plan_, round));
    return all;
  }

  /// Sent in the round of the largest fragment.
  Bytes_ largest_round() const {
    using namespace grading::judge;
    Bytes largest;
    for (const Range fragment : plan_.fragments) largest = std::max(largest, sent_in(fragment));
    return rounds() == 0 ? Bytes_(Bytes(0)) : named("an all-reduce of the largest fragment", largest);
  }
  Bytes_ all_rounds() const {
    const auto exact = grading::judge::named("an all-reduce of each round's fragment", all_sent());
    if (plan_.fragments.size() > 1) return exact;
    return simplest(grading::formulas::rounds_sent(rounds(), weights(), kase_.ranks), exact);
  }

  /// Of one inner step.
  Nanos step_time() const {
    if (is_quadratic(kase_)) return Nanos(0);
    const grading::formulas::Letters letter(kase_);
    return (letter.l * (letter.f + letter.b)).value();
  }
  Time computing() const {
    using namespace grading::judge;
    const grading::formulas::Letters letter(kase_);
    if (is_quadratic(kase_)) return named("inner steps", Nanos(0));
    return named("steps", Count(kase_.steps)) * (letter.l * (letter.f + letter.b));
  }
  /// Of all layers, one after another.
  Time all_reduces() const {
    return grading::judge::named("all-reduces of all layers", reduce_time({0, static_cast<Count>(layers_.size())}));
  }
  Time time() const {
    using namespace grading::judge;
    if (plan_.fragments.size() == 1 && plan_.overlap == 0) {
      return computing() + named("rounds", Count(rounds())) * all_reduces();
    }
    Nanos exposed;
    for (int round = 0; round < rounds(); ++round) {
      exposed += std::max(Nanos(0), reduce_time(fragment_of(plan_, round)) - plan_.overlap * step_time());
    }
    return computing() + named("what tau steps do not hide of each round", exposed);
  }

  Bytes_ peak() const {
    using namespace grading::judge;
    const Bytes_ state =
        named(kase_.model.optimizer == model::ModelSpec::Optimizer::adam ? "weights, gradients, moments"
                                                                         : "weights, gradients",
              Bytes(standing_state()));
    const Bytes_ two = 2 * named("weights", weights());
    const Bytes_ difference = named("differences of the largest fragment", Bytes(largest_fragment()));
    const Bytes_ given = named(is_quadratic(kase_) ? "targets and loss" : "batch and loss", Bytes(given_bytes()));
    const Bytes_ step = named("an inner step", Bytes(step_bytes()));
    const Bytes_ all = state + given + two;
    return plan_.overlap > 0 ? all + difference + step : all + max(difference, step);
  }

 private:
  int rounds() const { return static_cast<int>(plan_.tokens.size()); }
  /// Layer by layer or in one piece: where N does not divide their sizes, one of the two is some elements more.
  Bytes sent_in(Range layers) const {
    std::int64_t bytes = 0;
    Count together = 0;
    for (Count l = layers.begin; l < layers.end; ++l) {
      bytes += grading::formulas::all_reduce_bytes(kase_, count_of(l), rank_);
      together += count_of(l);
    }
    return Bytes(std::max(bytes, grading::formulas::all_reduce_bytes(kase_, together, rank_)));
  }
  Nanos reduce_time(Range layers) const {
    std::int64_t time = 0;
    for (Count l = layers.begin; l < layers.end; ++l) time += grading::formulas::all_reduce_time(kase_, count_of(l));
    return Nanos(time);
  }
  Count count_of(Count l) const { return layers_[static_cast<std::size_t>(l)] / grading::judge::kBytesOfF32; }
  std::int64_t largest_fragment() const {
    std::int64_t largest = 0;
    for (const Range fragment : plan_.fragments) {
      std::int64_t bytes = 0;
      for (Count l = fragment.begin; l < fragment.end; ++l) bytes += layers_[static_cast<std::size_t>(l)];
      largest = std::max(largest, bytes);
    }
    return rounds() == 0 ? 0 : largest;
  }
  grading::formulas::StepPeak of_step() const { return grading::formulas::step_peak(kase_, rank_, 0); }
  std::int64_t standing_state() const {
    const auto step = of_step();
    return step.weights + step.gradients + step.optimizer;
  }
  std::int64_t given_bytes() const {
    return is_quadratic(kase_) ? weights().value() + grading::judge::kBytesOfF32 : of_step().batch;
  }
  /// What an inner step needs beside the state: activations of one micro-batch, or the gradient of a layer.
  std::int64_t step_bytes() const {
    if (is_quadratic(kase_)) return *std::max_element(layers_.begin(), layers_.end());
    const auto step = of_step();
    return step.kept + step.own;
  }

  const cases::Case& kase_;
  int rank_;
  OuterPlan plan_;
  std::vector<std::int64_t> layers_;  ///< bytes of weights
};

}  // namespace shardlings

/// \file
/// Workers that train for themselves and take outer steps together (puzzle 31), as the judge does it, in plain loops,
/// and with the mistakes that it knows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "case/data.h"
#include "grading/reference/noise.h"
#include "grading/reference/trainer.h"
#include "model/structure.h"
#include "shardlings/puzzle.h"

namespace shardlings::grading::formulas {

enum class OuterMistake : std::uint8_t {
  none,
  added,             ///< the outer step goes the other way
  from_worker,       ///< the outer step begins with the worker's weights
  plain_mean,        ///< each worker that was not lost weighs the same
  lost_counted,      ///< a lost difference weighs what its worker's tokens are
  divided_by_all,    ///< the divisor has the lost worker's tokens in it, and the sum has not
  summed,            ///< differences are added up without weights
  averaged,          ///< the weights become the workers' mean: no outer step
  heavy_ball,        ///< anchor - lr m
  momentum_unused,   ///< anchor - lr d
  momentum_lost,     ///< m begins anew in each round
  anchor_kept,       ///< all differences are from the first weights
  anchor_of_worker,  ///< the anchor becomes the worker's mixed weights
  mix_swapped,       ///< alpha and 1 - alpha
  mix_ignored,       ///< the weights become the anchor
  taken_late,        ///< differences are those at the end of the round
  moments_averaged,  ///< over the workers, at the end of each round
  moments_cleared,   ///< at the end of each round
  left_behind,       ///< a worker whose difference was lost goes on with its own weights and anchor
  whole_model,       ///< each round is that of all fragments
  long_rounds,       ///< a round ends every H steps, not every H/P
  lost_weights,      ///< a worker whose difference was lost keeps its weights, and takes the new anchor
  lost_anchor,       ///< it takes the step with its weights alone, and keeps its anchor
  lost_unmixed,      ///< it takes the anchor, whatever alpha is
  lost_moments,      ///< its moments begin anew
  round_left_out,    ///< a round in which a difference was lost is left out
  before_step,       ///< a round begins and ends before the inner step of its number
  starts_before,     ///< differences are those before the inner step behind which they leave
  late_end,          ///< a round begins at its end, and ends tau steps later
  last_left_out,     ///< the round that ends with the last step is left out
  one_step_early,    ///< differences leave one step before the end, whatever tau is
  reversed,          ///< the last fragment's round is the first one
  rounds_in_blocks,  ///< P rounds of the first fragment, then P of the next one
  all_every_h,       ///< every H steps a round of all fragments
  without_overlap,   ///< that, and tau = alpha = 0
  mix_added,         ///< alpha weights + anchor
  mix_old_anchor,    ///< weights are mixed with the anchor before its step
  divided_twice,     ///< d is divided by N once more
  whole_shares,      ///< n_k / n in whole numbers
  dampened,          ///< m = mu m + (1 - mu) d
  rate_not_of_m,     ///< anchor - (lr d + mu m)
  rate_not_of_d,     ///< anchor - (d + lr mu m)
  late_anchor,       ///< a fragment's anchor is its weights when its first round begins
  v_averaged,        ///< the second moments over the workers, at the end of each round
  count_cleared,     ///< the inner optimizer counts its steps anew after each round
  never,             ///< no outer step at all
};

/// A case, and what its workers go by.
struct OuterCase {
  const cases::Case& kase;
  OuterPlan plan;
  OuterPlan nobody_lost;  ///< the same plan without a lost difference
  /// The workers' first weights where all numbers shall be exact: the gradient of a worker is then the distance from
  /// its own integers_of(). Empty: the case's weights, and gradients of its model.
  std::vector<std::vector<float>> exact_weights{};
};

/// What a worker has.
template <class Real>
struct TrainedWorker {
  reference::LayersOf<Real> weights, m, v;
  int updates = 0;
};

/// All workers of a case, in one number type.
template <class Real>
class WorkerTraining {
 public:
  using Numbers = reference::LayersOf<Real>;

  WorkerTraining(const OuterCase& of, std::uint64_t shake, OuterMistake mistake)
      : of_(of), kase_(of.kase), plan_(of.plan), shake_(shake), mistake_(mistake) {
    TrainedWorker<Real> first;
    first.weights = initial();
    first.m = first.v = zeros();
    workers_.assign(static_cast<std::size_t>(kase_.ranks), first);
    anchors_.assign(workers_.size(), first.weights);
    momentum_ = sum_ = zeros();
    is_anchored_.assign(sum_.size(), false);
  }

  std::vector<TrainedWorker<Real>> run() {
    for (int step = 1; step <= plan_.steps; ++step) {
      const bool before = mistake_ == OuterMistake::before_step;
      if (before || mistake_ == OuterMistake::starts_before) begin_round_behind(step);
      if (before) end_round_behind(step);
      for (int k = 0; k < kase_.ranks; ++k) inner_step(k, step);
      if (!before && mistake_ != OuterMistake::starts_before) begin_round_behind(step);
      if (!before) end_round_behind(step);
    }
    return workers_;
  }

 private:
  bool is_exact() const { return !of_.exact_weights.empty(); }
  static std::size_t at(Count i) { return static_cast<std::size_t>(i); }

  Numbers initial() const {
    Numbers weights = reference::initial_weights<Real>(kase_);
    for (std::size_t l = 0; l < weights.size(); ++l) {
      if (is_exact()) {
        weights[l].assign(of_.exact_weights[l].begin(), of_.exact_weights[l].end());
      } else {
        reference::shake_all(weights[l], shake_, l);
      }
    }
    return weights;
  }
  Numbers zeros() const {
    Numbers all = reference::initial_weights<Real>(kase_);
    for (auto& layer : all) layer.assign(layer.size(), Real(0));
    return all;
  }

  Numbers gradient(int k, int step) const {
    Numbers grads = zeros();
    const int micro = (step - 1) % kase_.micro_batches;
    if (!is_exact()) {
      constexpr std::uint64_t kInputs = std::uint64_t{1} << 32U;
      cases::MicroData data = cases::micro_of(kase_, k, micro);
      reference::shake_all(data.inputs, shake_, kInputs + at(k * kase_.micro_batches + micro));
      reference::train_micro<Real>(kase_, data, data.tokens, workers_[at(k)].weights, grads);
      return grads;
    }
    const std::vector<float> targets = cases::integers_of(kase_, k, model::make_structure(kase_.model).total);
    std::size_t next = 0;
    for (std::size_t l = 0; l < grads.size(); ++l) {
      for (std::size_t i = 0; i < grads[l].size(); ++i) {
        grads[l][i] = workers_[at(k)].weights[l][i] - Real(targets[next++]);
      }
    }
    return grads;
  }

  /// Plain SGD, or Adam (Kingma and Ba 2015, algorithm 1) with the defaults of AdamStep.
  void inner_step(int k, int step) {
    TrainedWorker<Real>& worker = workers_[at(k)];
    const Numbers grads = gradient(k, step);
    ++worker.updates;
    for (std::size_t l = 0; l < grads.size(); ++l) {
      for (std::size_t i = 0; i < grads[l].size(); ++i) {
        const bool sgd = kase_.model.optimizer == model::ModelSpec::Optimizer::sgd;
        const Real g = grads[l][i];
        worker.weights[l][i] -= Real(kase_.model.lr) * (sgd ? g : direction(worker, l, i, g));
      }
    }
  }
  Real direction(TrainedWorker<Real>& worker, std::size_t l, std::size_t i, Real g) const {
    const AdamStep defaults;
    const Real beta1 = Real(defaults.beta1), beta2 = Real(defaults.beta2);
    Real &m = worker.m[l][i], &v = worker.v[l][i];
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    const Real m_hat = m / (1 - std::pow(beta1, Real(worker.updates)));
    const Real v_hat = v / (1 - std::pow(beta2, Real(worker.updates)));
    return m_hat / (std::sqrt(v_hat) + Real(kase_.model.eps));
  }

  Real share(int round, int k) const {
    const std::vector<Count>& tokens = plan_.tokens[at(round)];
    Count all = 0, taking_part = 0;
    for (const Count n : tokens) {
      all += n;
      taking_part += n > 0 ? 1 : 0;
    }
    const bool lost = tokens[at(k)] == 0;
    const std::vector<Count>& whole = of_.nobody_lost.tokens[at(round)];
    Count all_whole = 0;
    for (const Count n : whole) all_whole += n;
    switch (mistake_) {
      case OuterMistake::plain_mean: return lost ? Real(0) : 1 / static_cast<Real>(taking_part);
      case OuterMistake::summed: return lost ? Real(0) : Real(1);
      case OuterMistake::lost_counted: return static_cast<Real>(whole[at(k)]) / static_cast<Real>(all_whole);
      case OuterMistake::divided_by_all: return static_cast<Real>(tokens[at(k)]) / static_cast<Real>(all_whole);
      case OuterMistake::whole_shares: return static_cast<Real>(tokens[at(k)] / all);
      case OuterMistake::divided_twice:
        return static_cast<Real>(tokens[at(k)]) / static_cast<Real>(all * static_cast<Count>(tokens.size()));
      default: return static_cast<Real>(tokens[at(k)]) / static_cast<Real>(all);
    }
  }

  Range layers_of(int round) const {
    const std::size_t fragments = plan_.fragments.size();
    switch (mistake_) {
      case OuterMistake::whole_model:
      case OuterMistake::all_every_h:
      case OuterMistake::without_overlap: return {0, static_cast<Count>(sum_.size())};
      case OuterMistake::reversed: return plan_.fragments[fragments - 1 - at(round) % fragments];
      case OuterMistake::rounds_in_blocks: return plan_.fragments[at(round) / fragments % fragments];
      default: break;
    }
    return plan_.fragments[at(round) % plan_.fragments.size()];
  }

  int interval() const {
    const bool is_long = mistake_ == OuterMistake::long_rounds || mistake_ == OuterMistake::all_every_h ||
                         mistake_ == OuterMistake::without_overlap;
    return is_long ? plan_.every : plan_.every / static_cast<int>(plan_.fragments.size());
  }
  /// A round ends behind that step.
  bool is_end(int step) const {
    return step > 0 && step % interval() == 0 && mistake_ != OuterMistake::never && step <= plan_.steps &&
           (mistake_ != OuterMistake::last_left_out || step < plan_.steps) &&
           (mistake_ != OuterMistake::round_left_out || !has_lost(step / interval() - 1));
  }
  bool has_lost(int round) const {
    const std::vector<Count>& tokens = plan_.tokens[at(round)];
    return std::find(tokens.begin(), tokens.end(), Count{0}) != tokens.end();
  }
  void begin_round_behind(int step) {
    int early = plan_.overlap;
    if (mistake_ == OuterMistake::taken_late || mistake_ == OuterMistake::without_overlap) early = 0;
    if (mistake_ == OuterMistake::one_step_early) early = std::min(early, 1);
    if (mistake_ == OuterMistake::late_end) {
      if (is_end(step) && step + early <= plan_.steps) start(step / interval() - 1);
    } else if (is_end(step + early)) {
      start((step + early) / interval() - 1);
    }
  }
  void end_round_behind(int step) {
    const int end = mistake_ == OuterMistake::late_end ? step - plan_.overlap : step;
    if (is_end(end)) finish(end / interval() - 1);
  }

  void start(int round) {
    const Range fragment = layers_of(round);
    for (std::size_t l = at(fragment.begin); l < at(fragment.end); ++l) {
      const bool first = mistake_ == OuterMistake::late_anchor && !is_anchored_[l];
      for (std::size_t k = 0; first && k < workers_.size(); ++k) anchors_[k][l] = workers_[k].weights[l];
      is_anchored_[l] = true;
    }
    for (std::size_t l = at(fragment.begin); l < at(fragment.end); ++l) {
      sum_[l].assign(sum_[l].size(), Real(0));
      for (int k = 0; k < kase_.ranks; ++k) {
        const Real part = share(round, k);
        for (std::size_t i = 0; i < sum_[l].size(); ++i) {
          sum_[l][i] += part * (anchors_[at(k)][l][i] - workers_[at(k)].weights[l][i]);
        }
      }
    }
  }

  /// By how much the anchor moves.
  Real outer_step(std::size_t l, std::size_t i) {
    const Real d = sum_[l][i], mu = Real(plan_.momentum), lr = Real(plan_.lr);
    Real& m = momentum_[l][i];
    m = (mistake_ == OuterMistake::momentum_lost ? Real(0) : mu * m) +
        (mistake_ == OuterMistake::dampened ? (1 - mu) * d : d);
    switch (mistake_) {
      case OuterMistake::averaged: return d;
      case OuterMistake::added: return -lr * (d + mu * m);
      case OuterMistake::heavy_ball: return lr * m;
      case OuterMistake::momentum_unused: return lr * d;
      case OuterMistake::rate_not_of_m: return lr * d + mu * m;
      case OuterMistake::rate_not_of_d: return d + lr * mu * m;
      default: return lr * (d + mu * m);
    }
  }

  void finish(int round) {
    const Range fragment = layers_of(round);
    Real keep = Real(plan_.mix);
    if (mistake_ == OuterMistake::mix_swapped) keep = 1 - keep;
    if (mistake_ == OuterMistake::mix_ignored) keep = 0;
    for (std::size_t l = at(fragment.begin); l < at(fragment.end); ++l) {
      for (std::size_t i = 0; i < sum_[l].size(); ++i) {
        const Real step = outer_step(l, i);
        for (std::size_t k = 0; k < workers_.size(); ++k) {
          move(k, l, i, step, keep, plan_.tokens[at(round)][k] == 0);
        }
      }
    }
    spoil_moments(fragment, round);
  }

  /// Of one worker, at the end of a round.
  void move(std::size_t k, std::size_t l, std::size_t i, Real step, Real keep, bool lost) {
    if (lost && mistake_ == OuterMistake::left_behind) return;
    Real &anchor = anchors_[k][l][i], &weight = workers_[k].weights[l][i];
    const Real before = anchor, next = (mistake_ == OuterMistake::from_worker ? weight : anchor) - step;
    const bool stays = lost && mistake_ == OuterMistake::lost_anchor;
    if (lost && mistake_ == OuterMistake::lost_unmixed) keep = 0;
    Real other = mistake_ == OuterMistake::mix_old_anchor || stays ? before : next;
    if (mistake_ != OuterMistake::mix_added) other *= 1 - keep;
    if (!lost || mistake_ != OuterMistake::lost_weights) weight = keep * weight + other;
    if (mistake_ == OuterMistake::anchor_kept || stays) return;
    anchor = mistake_ == OuterMistake::anchor_of_worker ? weight : next;
  }

  void spoil_moments(Range fragment, int round) {
    for (std::size_t k = 0; k < workers_.size(); ++k) {
      const bool lost = mistake_ == OuterMistake::lost_moments && plan_.tokens[at(round)][k] == 0;
      if (mistake_ == OuterMistake::count_cleared) workers_[k].updates = 0;
      for (std::size_t l = at(fragment.begin); l < at(fragment.end); ++l) {
        if (!lost && mistake_ != OuterMistake::moments_cleared) break;
        workers_[k].m[l].assign(workers_[k].m[l].size(), Real(0));
        workers_[k].v[l].assign(workers_[k].v[l].size(), Real(0));
      }
    }
    for (std::size_t l = at(fragment.begin); l < at(fragment.end); ++l) {
      if (mistake_ == OuterMistake::moments_averaged) average(l, &TrainedWorker<Real>::m);
      if (mistake_ == OuterMistake::moments_averaged || mistake_ == OuterMistake::v_averaged) {
        average(l, &TrainedWorker<Real>::v);
      }
    }
  }
  void average(std::size_t l, Numbers TrainedWorker<Real>::*which) {
    for (std::size_t i = 0; i < sum_[l].size(); ++i) {
      Real mean = 0;
      for (const auto& worker : workers_) mean += (worker.*which)[l][i] / static_cast<Real>(workers_.size());
      for (auto& worker : workers_) (worker.*which)[l][i] = mean;
    }
  }

  const OuterCase& of_;
  const cases::Case& kase_;
  const OuterPlan& plan_;
  std::uint64_t shake_;
  OuterMistake mistake_;
  std::vector<TrainedWorker<Real>> workers_;
  std::vector<Numbers> anchors_;  ///< of each worker: they differ where a mistake lets them
  Numbers momentum_, sum_;
  std::vector<bool> is_anchored_;  ///< of each layer, whether a round of it has begun
};

/// What all workers have of one tensor of each layer, worker after worker.
template <class Real>
reference::LayersOf<Real> of_all_workers(const std::vector<TrainedWorker<Real>>& workers,
                                         reference::LayersOf<Real> TrainedWorker<Real>::*which) {
  reference::LayersOf<Real> all((workers.front().*which).size());
  for (const auto& worker : workers) {
    for (std::size_t l = 0; l < all.size(); ++l) {
      all[l].insert(all[l].end(), (worker.*which)[l].begin(), (worker.*which)[l].end());
    }
  }
  return all;
}

}  // namespace shardlings::grading::formulas

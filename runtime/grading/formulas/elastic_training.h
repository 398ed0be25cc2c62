/// \file
/// Training from which ranks are lost and others take over (puzzle 35), as one device would do it, in plain loops, and
/// with the mistakes that the judge knows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/parts.h"
#include "case/data.h"
#include "grading/reference/noise.h"
#include "grading/reference/trainer.h"
#include "model/structure.h"
#include "shardlings/ops.h"

namespace shardlings::grading::formulas {

/// What happened between two changes of the ranks that train.
struct Phase {
  Count first = 0;            ///< updates that the state has been through at its beginning
  Count last = 0;             ///< and at its end
  std::vector<int> ranks{};   ///< that train, in their order
  std::vector<int> healed{};  ///< of these, the ones that had no state while others had it
  bool loaded = false;        ///< nobody had it
  bool broken = false;        ///< somebody died of those that train
  int size() const { return static_cast<int>(ranks.size()); }
};

/// A case, and what its ranks go by.
struct ElasticCase {
  const cases::Case& kase;
  Count batch = 1;   ///< micro-batches of a step
  int replicas = 1;  ///< that train at most
  /// Where all numbers shall be exact: the gradient of a micro-batch of the data, so many numbers; of the one behind
  /// the last one the first weights. Empty: those of the case's model.
  std::function<std::vector<float>(Count number, Count size)> exact_row{};
};

enum class ElasticMistake : std::uint8_t {
  none,
  not_divided,      ///< the sum of the gradients is not divided
  divided_twice,    ///< it is divided by B, and by the number of ranks as well
  mean_of_means,    ///< each rank divides by its own share, and the sum by the ranks: shares are not equal
  old_divisor,      ///< as if each rank still had B/N micro-batches, with N ranks as at the beginning
  dead_unread,      ///< shares are those of the first phase: the dead ranks' micro-batches are not read
  world_shares,     ///< shares are those of all ranks of the world
  replicas_shares,  ///< shares are those of R ranks, however many there are
  kept_gradients,   ///< gradients are never cleared
  leftover,         ///< they are not when a step is made again
  skipped,          ///< the step that a death interrupted is not made again
  twice_below,      ///< of that step layers below `layer` are updated twice
  twice_above,      ///< or those from `layer` on
  moments_lost,     ///< a checkpoint is loaded without moments
  updates_lost,     ///< it is loaded, and the optimizer counts from 0
  weights_lost,     ///< nothing is loaded but the number of updates
  data_again        ///< a checkpoint is loaded, and the data begin again at the first one
};

template <class Real>
struct ElasticState {
  reference::LayersOf<Real> weights, m, v;
  std::vector<Count> updates;  ///< of each layer, as the optimizer counts them
};

template <class Real>
class ElasticTraining {
 public:
  using Numbers = reference::LayersOf<Real>;
  using State = ElasticState<Real>;

  ElasticTraining(const ElasticCase& of, const std::vector<Phase>& phases, std::uint64_t shake = 0,
                  ElasticMistake mistake = ElasticMistake::none, int layer = 0)
      : of_(of), kase_(of.kase), phases_(phases), shake_(shake), mistake_(mistake), layer_(layer), batch_(of.batch) {
    state_.weights = initial();
    state_.m = state_.v = kept_ = zeros();
    state_.updates.assign(state_.weights.size(), 0);
    after_[0] = state_;
  }

  State run() {
    for (std::size_t number = 0; number < phases_.size(); ++number) {
      const Phase& phase = phases_[number];
      if (phase.loaded) load(phase.first);
      for (Count u = phase.first; u < phase.last; ++u) {
        const bool again = number > 0 && u == phase.first && !phase.loaded;
        step(number, u, again);
        after_[u + 1] = state_;
      }
    }
    return state_;
  }
  /// After so many updates of what has been run.
  const State& after(Count updates) const { return after_.at(updates); }

 private:
  static std::size_t at(Count i) { return static_cast<std::size_t>(i); }
  bool is_exact() const { return static_cast<bool>(of_.exact_row); }

  Numbers zeros() const {
    Numbers all = reference::initial_weights<Real>(kase_);
    for (auto& layer : all) layer.assign(layer.size(), Real(0));
    return all;
  }
  Numbers initial() const {
    Numbers weights = reference::initial_weights<Real>(kase_);
    if (is_exact()) {
      weights = zeros();
      add_row(weights, kase_.micro_batches, Real(1));
    }
    for (std::size_t l = 0; l < weights.size() && !is_exact(); ++l) {
      reference::shake_all(weights[l], shake_, l);
    }
    return weights;
  }
  void add_row(Numbers& to, Count number, Real factor) const {
    const std::vector<float> row = of_.exact_row(number, model::make_structure(kase_.model).total);
    std::size_t next = 0;
    for (auto& layer : to) {
      for (Real& x : layer) x += factor * Real(row[next++]);
    }
  }

  void load(Count updates) {
    const State saved = after_.count(updates) != 0 ? after_.at(updates) : after_.at(0);
    state_ = saved;
    if (mistake_ == ElasticMistake::moments_lost) state_.m = state_.v = zeros();
    if (mistake_ == ElasticMistake::weights_lost) state_ = after_.at(0);
    if (mistake_ == ElasticMistake::weights_lost) state_.updates.assign(state_.weights.size(), updates);
    if (mistake_ == ElasticMistake::updates_lost) state_.updates.assign(state_.weights.size(), 0);
    loaded_ = updates;
  }

  /// Of micro-batch i of the step after u updates.
  void add_gradient(Numbers& to, Count u, Count i, Real factor) const {
    const Count step = mistake_ == ElasticMistake::data_again ? u - loaded_ : u;
    const Count number = (step * batch_ + i) % kase_.micro_batches;
    if (is_exact()) return add_row(to, number, factor);
    constexpr std::uint64_t kInputs = std::uint64_t{1} << 32U;
    cases::MicroData data = cases::micro_of(kase_, 0, static_cast<int>(number));
    reference::shake_all(data.inputs, shake_, kInputs + at(number));
    Numbers grads = zeros();
    reference::train_micro<Real>(kase_, data, data.tokens, state_.weights, grads);
    for (std::size_t l = 0; l < to.size(); ++l) {
      for (std::size_t k = 0; k < to[l].size(); ++k) to[l][k] += factor * grads[l][k];
    }
  }

  /// What the member number `r` of a phase reads.
  Range share(const Phase& phase, int r) const {
    if (mistake_ == ElasticMistake::world_shares) return part_of(batch_, kase_.ranks, phase.ranks[at(r)]);
    if (mistake_ == ElasticMistake::replicas_shares) return part_of(batch_, of_.replicas, r);
    if (mistake_ != ElasticMistake::dead_unread) return part_of(batch_, phase.size(), r);
    const std::vector<int>& first = phases_.front().ranks;
    const auto found = std::find(first.begin(), first.end(), phase.ranks[at(r)]);
    return found == first.end() ? Range{}
                                : part_of(batch_, phases_.front().size(), static_cast<int>(found - first.begin()));
  }
  Real factor_of(const Phase& phase, Range share) const {
    const auto n = static_cast<Real>(phase.size()), b = static_cast<Real>(batch_);
    switch (mistake_) {
      case ElasticMistake::not_divided: return 1;
      case ElasticMistake::divided_twice: return 1 / (b * n);
      case ElasticMistake::mean_of_means: return 1 / (static_cast<Real>(share.size()) * n);
      case ElasticMistake::old_divisor: return n / (static_cast<Real>(phases_.front().size()) * b);
      default: return 1 / b;
    }
  }

  void step(std::size_t number, Count u, bool again) {
    const Phase& phase = phases_[number];
    if (again && mistake_ == ElasticMistake::skipped) return;
    const bool is_twice = mistake_ == ElasticMistake::twice_below || mistake_ == ElasticMistake::twice_above;
    if (again && is_twice) update(gradients(phase, u), [&](std::size_t l) { return is_updated_twice(l); });
    Numbers grads = gradients(phase, u);
    if (again && mistake_ == ElasticMistake::leftover) add_leftover(grads, phases_[number - 1], phase, u);
    if (mistake_ == ElasticMistake::kept_gradients) add_kept(grads, static_cast<Real>(phase.size()));
    update(grads, [](std::size_t) { return true; });
  }
  Numbers gradients(const Phase& phase, Count u) const {
    Numbers grads = zeros();
    for (int r = 0; r < phase.size(); ++r) {
      const Range mine = share(phase, r);
      for (Count i = mine.begin; i < mine.end; ++i) add_gradient(grads, u, i, factor_of(phase, mine));
    }
    return grads;
  }
  void add_leftover(Numbers& grads, const Phase& before, const Phase& now, Count u) const {
    for (int r = 0; r < before.size(); ++r) {
      const bool lives = std::find(now.ranks.begin(), now.ranks.end(), before.ranks[at(r)]) != now.ranks.end();
      const Range mine = part_of(batch_, before.size(), r);
      for (Count i = mine.begin; lives && i < mine.end; ++i) add_gradient(grads, u, i, 1 / static_cast<Real>(batch_));
    }
  }
  /// What was divided stays, on each rank, and the sum has it from all of them.
  void add_kept(Numbers& grads, Real ranks) {
    for (std::size_t l = 0; l < grads.size(); ++l) {
      for (std::size_t i = 0; i < grads[l].size(); ++i) {
        grads[l][i] += ranks / static_cast<Real>(batch_) * kept_[l][i];
        kept_[l][i] = grads[l][i];
      }
    }
  }

  bool is_updated_twice(std::size_t l) const {
    return mistake_ == ElasticMistake::twice_below ? static_cast<int>(l) < layer_ : static_cast<int>(l) >= layer_;
  }
  /// Plain SGD, or Adam (Kingma and Ba 2015, algorithm 1) with the defaults of AdamStep.
  template <class Layers>
  void update(const Numbers& grads, Layers takes_part) {
    const bool sgd = kase_.model.optimizer == model::ModelSpec::Optimizer::sgd;
    for (std::size_t l = 0; l < grads.size(); ++l) {
      if (!takes_part(l)) continue;
      ++state_.updates[l];
      for (std::size_t i = 0; i < grads[l].size(); ++i) {
        const Real g = grads[l][i];
        state_.weights[l][i] -= Real(kase_.model.lr) * (sgd ? g : direction(l, i, g));
      }
    }
  }
  Real direction(std::size_t l, std::size_t i, Real g) {
    const AdamStep defaults;
    const Real beta1 = Real(defaults.beta1), beta2 = Real(defaults.beta2);
    Real &m = state_.m[l][i], &v = state_.v[l][i];
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    const Real m_hat = m / (1 - std::pow(beta1, static_cast<Real>(state_.updates[l])));
    const Real v_hat = v / (1 - std::pow(beta2, static_cast<Real>(state_.updates[l])));
    return m_hat / (std::sqrt(v_hat) + Real(kase_.model.eps));
  }

  const ElasticCase& of_;
  const cases::Case& kase_;
  const std::vector<Phase>& phases_;
  std::uint64_t shake_;
  ElasticMistake mistake_;
  int layer_;
  Count batch_, loaded_ = 0;
  State state_;
  std::map<Count, State> after_;  ///< so many updates
  Numbers kept_;
};

}  // namespace shardlings::grading::formulas

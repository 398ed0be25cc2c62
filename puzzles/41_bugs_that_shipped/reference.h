// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// One device's training of a case of this puzzle, in double precision, and what becomes of it where micro-batches count
// for something else than 1/m.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "grading/formulas/training.h"

namespace shardlings::grader {

using Numbers = std::vector<double>;

/// Which of the case's tensors is which: harness.cpp draws the same ones.
enum Drawn : int { kInputs, kTargets, kBias, kWeights };

struct ShippedCase {
  explicit ShippedCase(const Case& from)
      : kase(from),
        program(static_cast<int>(from.integer("program"))),
        m(from.integer("micro")),
        samples(from.integer("samples")),
        width(from.integer("width")),
        data(from.integer("data")),
        stages(program == 2 ? from.ranks : 1),
        replicas(program == 2 || program == 3 ? 1 : from.ranks) {}

  Count of_step() const { return m * samples; }
  Count matrix() const { return width * width; }

  const Case& kase;
  int program;
  Count m, samples, width, data;
  int stages, replicas;
};

/// The case's tensor `which`, of n numbers.
using Draw = std::function<std::vector<float>(int which, Count n)>;
/// How much the gradient of micro-batch i counts on stage s.
using Weighing = std::function<double(Count i, int stage)>;
/// The samples that micro-batch i of a step reads begin with this one.
using First = std::function<Count(Count step, Count i)>;

inline Weighing one_device(const ShippedCase& of) {
  return [m = of.m](Count, int) { return 1.0 / static_cast<double>(m); };
}
inline First in_order(const ShippedCase& of) {
  return [=, m = of.m, samples = of.samples, data = of.data](Count step, Count i) {
    return (step * m + i) * samples % data;
  };
}

class OneDevice {
 public:
  OneDevice(const ShippedCase& of, const Draw& draw) : of_(of) {
    const auto drawn = [&](int which, Count n) {
      const std::vector<float> values = draw(which, n);
      return Numbers(values.begin(), values.end());
    };
    inputs_ = drawn(kInputs, (of.data + 1) * of.width);
    targets_ = drawn(kTargets, (of.data + 1) * of.width);
    bias_ = drawn(kBias, of.width);
    for (double& value : bias_) value *= 0.1;
    for (int stage = 0; stage < of.stages; ++stage) {
      for (const double value : drawn(kWeights + stage, of.matrix())) {
        weights_.push_back(value * (0.5 / std::sqrt(static_cast<double>(of.width))));
      }
    }
    m_.assign(weights_.size(), 0);
    v_ = m_;
  }

  const Numbers& weights() const { return weights_; }
  const Numbers& bias() const { return bias_; }

  /// Sum over the micro-batches of step `step`, of what each one's mean loss gives. `own`: of rank r's part alone.
  Numbers gradient(Count step, const Weighing& weighing, const First& first, int replica = -1) const {
    Numbers grads(weights_.size(), 0.0);
    const Range part = replica < 0 ? Range{0, of_.samples} : part_of_replica(replica);
    for (Count i = 0; i < of_.m; ++i) {
      for (Count j = part.begin; j < part.end; ++j) {
        add_sample((first(step, i) + j) % of_.data, 1.0 / static_cast<double>(part.size()), i, weighing, grads);
      }
    }
    return grads;
  }

  void update(const Numbers& grads, Count step) {
    constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEps = 1e-6;
    const double lr = of_.kase.number("lr"), number = static_cast<double>(step + 1);
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (of_.program != 2) {
        weights_[i] -= lr * grads[i];
        continue;
      }
      m_[i] = kBeta1 * m_[i] + (1 - kBeta1) * grads[i];
      v_[i] = kBeta2 * v_[i] + (1 - kBeta2) * grads[i] * grads[i];
      const double m = m_[i] / (1 - std::pow(kBeta1, number)), v = v_[i] / (1 - std::pow(kBeta2, number));
      weights_[i] -= lr * m / (std::sqrt(v) + kEps);
    }
  }

  /// Program 3: the layer's output, with `biases` times its bias.
  Numbers output(double biases) const {
    Numbers y;
    for (Count row = 0; row < of_.of_step(); ++row) {
      const Numbers x = row_of(inputs_, row);
      const Numbers product = times(0, x);
      for (Count o = 0; o < of_.width; ++o) {
        y.push_back(product[static_cast<std::size_t>(o)] + biases * bias_[static_cast<std::size_t>(o)]);
      }
    }
    return y;
  }

 private:
  Range part_of_replica(int replica) const {
    const Count each = of_.samples / of_.replicas;
    return {replica * each, (replica + 1) * each};
  }
  Numbers row_of(const Numbers& table, Count row) const {
    return {table.begin() + row * of_.width, table.begin() + (row + 1) * of_.width};
  }
  double weight(int stage, Count o, Count i) const {
    return weights_[static_cast<std::size_t>(stage * of_.matrix() + o * of_.width + i)];
  }
  Numbers times(int stage, const Numbers& x) const {
    Numbers y(x.size(), 0.0);
    for (Count o = 0; o < of_.width; ++o) {
      for (Count i = 0; i < of_.width; ++i) {
        y[static_cast<std::size_t>(o)] += weight(stage, o, i) * x[static_cast<std::size_t>(i)];
      }
    }
    return y;
  }
  void add_sample(Count sample, double share, Count micro, const Weighing& weighing, Numbers& grads) const {
    std::vector<Numbers> x = {row_of(inputs_, sample)};
    for (int stage = 0; stage < of_.stages; ++stage) x.push_back(times(stage, x.back()));
    Numbers g = x.back();
    const Numbers target = row_of(targets_, sample);
    for (std::size_t o = 0; o < g.size(); ++o) g[o] = (g[o] - target[o]) * share;
    for (int stage = of_.stages - 1; stage >= 0; --stage) {
      const double counts = weighing(micro, stage);
      Numbers below(g.size(), 0.0);
      for (Count o = 0; o < of_.width; ++o) {
        for (Count i = 0; i < of_.width; ++i) {
          const double of_o = g[static_cast<std::size_t>(o)];
          const std::size_t at = static_cast<std::size_t>(stage * of_.matrix() + o * of_.width + i);
          grads[at] += counts * of_o * x[static_cast<std::size_t>(stage)][static_cast<std::size_t>(i)];
          below[static_cast<std::size_t>(i)] += weight(stage, o, i) * of_o;
        }
      }
      g = std::move(below);
    }
  }

  const ShippedCase& of_;
  Numbers inputs_, targets_, bias_, weights_, m_, v_;
};

/// Rounding of f32: a little part of the largest number.
inline double tolerance_of(const Numbers& numbers) {
  double largest = 0;
  for (const double number : numbers) largest = std::max(largest, std::abs(number));
  return 2e-5 * largest;
}

}  // namespace shardlings::grader

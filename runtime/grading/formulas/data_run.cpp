#include "grading/formulas/data_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "case/data.h"
#include "grading/formulas/data_packing.h"
#include "grading/reference/gelu.h"
#include "grading/reference/noise.h"

namespace shardlings::grading::formulas {
namespace {

/// The training of one device, in one number type.
template <class Real>
class OneDevice {
 public:
  using Row = std::vector<Real>;
  using Table = std::vector<Real>;

  OneDevice(const DataCase& of, std::uint64_t shake) : of_(of) {
    const Count tokens = of.tokens() * of.width;
    const auto shaken = [&](const std::vector<float>& drawn, std::uint64_t stream) {
      Table table(drawn.begin(), drawn.end());
      reference::shake_all(table, shake, stream);
      return table;
    };
    inputs_ = shaken(cases::normals_of(of.kase, kInputs, tokens), 0);
    targets_ = shaken(cases::normals_of(of.kase, kTargets, tokens), 1);
    weights_ = shaken(first_weights(of), 2);
  }

  std::vector<Real> run() {
    if (of_.is_packed()) {
      for (const PackedStep& step : all_packed_steps(of_)) train(step);
    } else {
      for (const StepRead& step : all_steps(of_)) train(step);
    }
    return std::move(weights_);
  }

 private:
  struct Layer {
    Row x, z, a;
  };
  /// Masks of a layer in a step.
  struct Masks {
    std::vector<float> inner, output;
  };

  Real* up(Table& of, Count layer) const { return of.data() + 2 * layer * of_.matrix(); }
  Real* down(Table& of, Count layer) const { return of.data() + (2 * layer + 1) * of_.matrix(); }

  void train(const StepRead& step) {
    const Count rows = step.size() * of_.s;
    begin(step.cursor, rows);
    for (Count row = 0; row < rows; ++row) {
      const Count at = step.sequences[static_cast<std::size_t>(row / of_.s)] * of_.s + row % of_.s;
      token(row, at, at, rows);
    }
    update();
  }
  void train(const PackedStep& step) {
    begin(step.cursor, step.size());
    for (Count row = 0; row < step.size(); ++row) {
      const PackedToken& own = step.tokens[static_cast<std::size_t>(row)];
      if (own.target >= 0) token(row, own.token, own.target, step.with_target());
    }
    update();
  }

  void begin(Count cursor, Count rows) {
    masks_.clear();
    for (Count layer = 0; layer < of_.layers; ++layer) {
      masks_.push_back({mask_by_row(of_, stream_of(of_, cursor, layer, true), rows, of_.middle),
                        mask_by_row(of_, stream_of(of_, cursor, layer, false), rows, of_.width)});
    }
    grads_.assign(weights_.size(), Real(0));
  }
  void update() {
    const auto lr = static_cast<Real>(of_.kase.model.lr);
    for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i] -= lr * grads_[i];
  }

  /// One token, forward and backward: row `row` of the step, with rows of the tables of inputs and of targets. The loss
  /// is a mean over `tokens`.
  void token(Count row, Count input, Count target, Count tokens) {
    const std::vector<Masks>& masks = masks_;
    Row x(inputs_.begin() + input * of_.width, inputs_.begin() + (input + 1) * of_.width);
    std::vector<Layer> saved;
    for (Count layer = 0; layer < of_.layers; ++layer) forward(row, layer, masks, x, saved);
    for (Count c = 0; c < of_.width; ++c) {
      Real& g = x[static_cast<std::size_t>(c)];
      g = (g - targets_[static_cast<std::size_t>(target * of_.width + c)]) / static_cast<Real>(tokens);
    }
    for (Count layer = of_.layers - 1; layer >= 0; --layer) backward(row, layer, masks, saved, x);
  }

  void forward(Count row, Count layer, const std::vector<Masks>& masks, Row& x, std::vector<Layer>& saved) {
    const Masks& mask = masks[static_cast<std::size_t>(layer)];
    const Real *w = up(weights_, layer), *v = down(weights_, layer);
    Layer own{x, Row(static_cast<std::size_t>(of_.middle)), Row(static_cast<std::size_t>(of_.middle))};
    Row y(x.size());
    for (Count k = 0; k < of_.middle; ++k) {
      Real z = 0;
      for (Count c = 0; c < of_.width; ++c) z += w[k * of_.width + c] * own.x[static_cast<std::size_t>(c)];
      const Real a = reference::gelu(z) * static_cast<Real>(mask.inner[static_cast<std::size_t>(row * of_.middle + k)]);
      for (Count c = 0; c < of_.width; ++c) y[static_cast<std::size_t>(c)] += a * v[k * of_.width + c];
      own.z[static_cast<std::size_t>(k)] = z;
      own.a[static_cast<std::size_t>(k)] = a;
    }
    for (std::size_t c = 0; c < y.size(); ++c) {
      x[c] += y[c] * static_cast<Real>(mask.output[static_cast<std::size_t>(row * of_.width) + c]);
    }
    saved.push_back(std::move(own));
  }

  void backward(Count row, Count layer, const std::vector<Masks>& masks, const std::vector<Layer>& saved, Row& g) {
    const Masks& mask = masks[static_cast<std::size_t>(layer)];
    const Layer& own = saved[static_cast<std::size_t>(layer)];
    const Real *w = up(weights_, layer), *v = down(weights_, layer);
    Real *grad_w = up(grads_, layer), *grad_v = down(grads_, layer);
    Row gy = g;
    for (std::size_t c = 0; c < gy.size(); ++c) {
      gy[c] *= static_cast<Real>(mask.output[static_cast<std::size_t>(row * of_.width) + c]);
    }
    for (Count k = 0; k < of_.middle; ++k) {
      const auto at = static_cast<std::size_t>(k);
      Real ga = 0;
      for (Count c = 0; c < of_.width; ++c) {
        ga += gy[static_cast<std::size_t>(c)] * v[k * of_.width + c];
        grad_v[k * of_.width + c] += own.a[at] * gy[static_cast<std::size_t>(c)];
      }
      const Real gz = reference::gelu_slope(own.z[at]) * ga *
                      static_cast<Real>(mask.inner[static_cast<std::size_t>(row * of_.middle + k)]);
      for (Count c = 0; c < of_.width; ++c) {
        grad_w[k * of_.width + c] += gz * own.x[static_cast<std::size_t>(c)];
        g[static_cast<std::size_t>(c)] += gz * w[k * of_.width + c];
      }
    }
  }

  const DataCase& of_;
  Table inputs_, targets_, weights_, grads_;
  std::vector<Masks> masks_;  ///< of the step, by layer
};

}  // namespace

GridPlace place_in_grid(const DataCase& of, int rank, Count step) {
  const bool later = step >= of.kase.steps;
  GridPlace place;
  place.t = static_cast<int>(of.kase.integer(later ? "t_later" : "t"));
  place.p = static_cast<int>(of.kase.integer(later ? "p_later" : "p"));
  place.d = of.kase.ranks / (place.t * place.p);
  place.tp = rank % place.t;
  place.pp = rank / place.t % place.p;
  place.dp = rank / (place.t * place.p);
  return place;
}

std::vector<Count> order_of(const DataCase& of, std::uint64_t more) {
  return shuffled_numbers(static_cast<std::uint32_t>(of.sequences), of.seed + more);
}

StepRead step_from(const DataCase& of, Count cursor) {
  const Count begin = cursor % of.sequences, end = std::min(begin + of.batch, of.sequences);
  const std::vector<Count> order = order_of(of, static_cast<std::uint64_t>(cursor / of.sequences));
  return {cursor, {order.begin() + begin, order.begin() + end}};
}

std::vector<StepRead> all_steps(const DataCase& of) {
  std::vector<StepRead> steps;
  Count cursor = of.kase.integer("cursor");
  for (Count step = 0; step < of.steps; ++step) {
    steps.push_back(step_from(of, cursor));
    cursor += steps.back().size();
  }
  return steps;
}

std::vector<float> mask_by_row(const DataCase& of, std::uint64_t stream, Count rows, Count width) {
  std::vector<float> mask;
  for (Count i = 0; i < rows * width; ++i) {
    const std::uint32_t word = random_word_at(of.seed, static_cast<std::uint64_t>(i), stream);
    mask.push_back(word < words_below(of.rate) ? 0.0F : 1 / (1 - of.rate));
  }
  return mask;
}

std::uint64_t stream_of(const DataCase& of, Count cursor, Count layer, bool inner) {
  return static_cast<std::uint64_t>(2 * (cursor * of.layers + layer) + (inner ? 0 : 1));
}

std::vector<float> first_weights(const DataCase& of, int others) {
  std::vector<float> weights;
  for (int m = 0; m < 2 * static_cast<int>(of.layers); ++m) {
    for (const float x : cases::normals_of(of.kase, others + kMatrices + m, of.matrix())) {
      weights.push_back(x * (0.5F / std::sqrt(static_cast<float>(of.width))));
    }
  }
  return weights;
}

std::vector<double> mean_of_first_weights(const DataCase& of, int replicas) {
  std::vector<double> mean(first_weights(of).size());
  for (int replica = 0; replica < replicas; ++replica) {
    const std::vector<float> own = first_weights(of, kOthers * replica);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += static_cast<double>(own[i]) / replicas;
  }
  return mean;
}

TrainedWeights trained_by_one_device(const DataCase& of) {
  std::vector<std::vector<float>> runs;
  for (std::uint64_t shake = 0; shake < reference::kRuns; ++shake) runs.push_back(OneDevice<float>(of, shake).run());
  std::vector<const std::vector<float>*> all;
  for (const std::vector<float>& run : runs) all.push_back(&run);
  TrainedWeights weights{OneDevice<double>(of, 0).run(), {}};
  weights.tolerance = reference::tolerances_of(weights.exact, all);
  return weights;
}

}  // namespace shardlings::grading::formulas

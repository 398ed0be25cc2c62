#include "grading/formulas/mixed_training.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "case/data.h"
#include "grading/reference/trainer.h"

namespace shardlings::grading::formulas {
namespace {

reference::Trained<double> after_updates(cases::Case kase, int updates) {
  kase.steps = updates;
  return reference::train<double>(kase, 0, reference::Precision::mixed);
}

/// Activations after a whole forward pass.
std::int64_t after_forward(const cases::Case& kase, DType dtype) {
  const std::vector<LayerBytes> layers = layer_bytes(kase, dtype);
  std::int64_t bytes = layers.back().output;
  for (const LayerBytes& layer : layers) bytes += layer.input + layer.saved;
  return bytes;
}

}  // namespace

bool overflows(const cases::Case& kase, int step) {
  return step == kase.integer("overflow") || step == kase.integer("overflow_again");
}

int number_of_overflows(const cases::Case& kase) {
  int number = 0;
  for (int step = 1; step <= kase.steps; ++step) number += overflows(kase, step) ? 1 : 0;
  return number;
}

cases::Case without_overflows(const cases::Case& kase) {
  cases::Case clean = kase;
  clean.steps -= number_of_overflows(kase);
  return clean;
}

Scaling expected_scaling(const cases::Case& kase) {
  Scaling expected;
  double scale = static_cast<double>(kase.integer("scale"));
  Count clean = 0;
  for (int step = 1; step <= kase.steps; ++step) {
    ++clean;
    if (overflows(kase, step)) {
      scale /= 2;
      clean = 0;
    } else if (clean == kase.integer("growth")) {
      scale *= 2;
      clean = 0;
    }
    expected.scales.push_back(scale);
    expected.counts.push_back(static_cast<double>(clean));
  }
  return expected;
}

std::vector<double> on_all_ranks(const cases::Case& kase, const std::vector<double>& values) {
  std::vector<double> all;
  for (int rank = 0; rank < kase.ranks; ++rank) all.insert(all.end(), values.begin(), values.end());
  return all;
}

std::vector<double> mixed_loss_shares(const cases::Case& kase, int step) {
  int updates = 0;
  for (int before = 1; before < step; ++before) updates += overflows(kase, before) ? 0 : 1;
  reference::Rounding<double> to_bf16;
  reference::Layers weights = after_updates(kase, updates).weights;
  for (std::vector<double>& layer : weights) reference::keep(&to_bf16, layer);
  reference::Layers unused = scaled(weights, 0);
  std::vector<double> shares;
  for (int rank = 0; rank < kase.ranks; ++rank) {
    shares.push_back(reference::train_micro(kase, cases::micro_of(kase, rank, 0), cases::tokens_of_step(kase), weights,
                                            unused, &to_bf16));
  }
  return shares;
}

double kept_of_m(const cases::Case& kase, double factor) {
  const auto beta1 = static_cast<double>(AdamStep().beta1);
  double right = 0, wrong = 0;
  for (int step = 1; step <= kase.steps; ++step) {
    if (overflows(kase, step)) {
      wrong *= factor;
    } else {
      right = beta1 * right + (1 - beta1);
      wrong = beta1 * wrong + (1 - beta1);
    }
  }
  return wrong / right;
}

double norm_of(const reference::Layers& layers) {
  double squares = 0;
  for (const std::vector<double>& layer : layers) {
    squares = std::inner_product(layer.begin(), layer.end(), layer.begin(), squares);
  }
  return std::sqrt(squares);
}

double largest(const reference::Layers& layers) {
  double most = 0;
  for (const std::vector<double>& layer : layers) {
    for (const double value : layer) most = std::max(most, std::abs(value));
  }
  return most;
}

reference::Layers updated(const cases::Case& kase, const reference::Layers& weights, const reference::Layers& m,
                          const reference::Layers& v, int number) {
  const AdamStep defaults;
  const double seen1 = 1 - std::pow(static_cast<double>(defaults.beta1), number);
  const double seen2 = 1 - std::pow(static_cast<double>(defaults.beta2), number);
  const auto lr = static_cast<double>(kase.model.lr), eps = static_cast<double>(kase.model.eps);
  reference::Layers result = weights;
  for (std::size_t l = 0; l < weights.size(); ++l) {
    for (std::size_t i = 0; i < weights[l].size(); ++i) {
      result[l][i] -= lr * m[l][i] / seen1 / (std::sqrt(v[l][i] / seen2) + eps);
    }
  }
  return result;
}

std::int64_t number_of_weights(const cases::Case& kase) {
  return weight_bytes(layer_bytes(kase)) / judge::kBytesOfF32;
}

std::int64_t mixed_given_bytes(const cases::Case& kase) {
  return batch_bytes(kase) + (kase.steps + 2) * judge::kBytesOfF32;
}

bool computes_in_f32(const judge::CheckContext& check, int rank) {
  const cases::Case& kase = check.kase();
  const auto forwards = check.events(rank, front::EventKind::forward);
  const auto layers = static_cast<std::size_t>(number_of_layers(kase));
  if (forwards.size() < layers) return false;
  const std::int64_t standing = 16 * number_of_weights(kase) + mixed_given_bytes(kase);
  const std::int64_t activations = forwards[layers - 1].live_after.value() - standing;
  return near(static_cast<double>(activations) / static_cast<double>(after_forward(kase, DType::f32)), 1);
}

}  // namespace shardlings::grading::formulas

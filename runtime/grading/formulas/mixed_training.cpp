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

/// By how much each layer is too large; nothing if one of them is not a multiple of what it should be.
std::vector<double> factors_by_layer(const reference::Layers& found, const reference::Layers& right) {
  std::vector<double> factors;
  for (std::size_t l = 0; found.size() == right.size() && l < right.size(); ++l) {
    const std::optional<double> ratio = constant_ratio({found[l]}, {right[l]}, kAlikeInBf16);
    if (!ratio || *ratio <= 0) return {};
    factors.push_back(*ratio);
  }
  return factors;
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

double m_if_divided_by_new_scale(const cases::Case& kase, double norm) {
  const auto beta1 = static_cast<double>(AdamStep().beta1);
  const double halved = clip_factor_of(kase, norm / 2) / 2 / clip_factor_of(kase, norm);
  const Scaling scaling = expected_scaling(kase);
  double right = 0, wrong = 0, before = static_cast<double>(kase.integer("scale"));
  for (int step = 1; step <= kase.steps; ++step) {
    const double after = scaling.scales[static_cast<std::size_t>(step - 1)];
    if (!overflows(kase, step)) {
      right = beta1 * right + (1 - beta1);
      wrong = beta1 * wrong + (1 - beta1) * (after > before ? halved : 1);
    }
    before = after;
  }
  return wrong / right;
}

bool some_ranks_idle(const judge::CheckContext& check, const reference::Layers& right) {
  if (!alike(layers_of_rank(check.result(), "m", 0), right, kAlikeInBf16)) return false;
  for (int rank = 1; rank < check.ranks(); ++rank) {
    if (largest(layers_of_rank(check.result(), "m", rank)) == 0) return true;
  }
  return false;
}

bool skipped_by_layer(const judge::CheckContext& check, const reference::Layers& right) {
  const Count layer = check.kase().integer("overflow_layer");
  const reference::Layers found = layers_of_rank(check.result(), "m", 0);
  if (layer < 0 || right.size() < 2 || found.size() != right.size()) return false;
  reference::Layers others_found = found, others_right = right;
  others_found.erase(others_found.begin() + layer);
  others_right.erase(others_right.begin() + layer);
  const auto l = static_cast<std::size_t>(layer);
  const std::optional<double> ratio = constant_ratio(others_found, others_right, kAlikeInBf16);
  return alike(reference::Layers{found[l]}, reference::Layers{right[l]}, kAlikeInBf16) && ratio && *ratio != 0 &&
         !near(ratio, 1, kAlikeInBf16);
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

std::vector<int> numbers_of_last_updates(const cases::Case& kase, const reference::Layers& before,
                                         const reference::Layers& m, const reference::Layers& v,
                                         const reference::Layers& after) {
  const auto layers = static_cast<int>(number_of_layers(kase));
  std::vector<int> numbers(after.size());
  std::vector<double> nearest(after.size());
  for (std::size_t l = 0; l < after.size(); ++l)
    nearest[l] = kAlikeInBf16 * norm_of(combine({after[l]}, -1, {before[l]}));
  for (int number = 1; number <= kase.steps + layers; ++number) {
    const reference::Layers distances = combine(after, -1, updated(kase, before, m, v, number));
    for (std::size_t l = 0; l < after.size(); ++l) {
      const double distance = norm_of({distances[l]});
      if (distance > nearest[l]) continue;
      nearest[l] = distance;
      numbers[l] = number;
    }
  }
  return numbers;
}

Count steps_scaled_before_backward(const judge::CheckContext& check, int rank) {
  const front::RankTrace& trace = check.trace(rank);
  Count steps = 0;
  bool lost = false, scaled = false;  // since the last backward
  for (const front::Event& event : trace.events) {
    if (event.kind == front::EventKind::loss) lost = true;
    // What is scaled is no gradient if it is a single number: that is the loss.
    if (trace.names.at(event.name) == "scale" && event.flops > Flops(1)) scaled = lost;
    if (event.kind != front::EventKind::backward) continue;
    steps += scaled ? 1 : 0;
    lost = scaled = false;
  }
  return steps;
}

std::int64_t number_of_weights(const cases::Case& kase) {
  return weight_bytes(layer_bytes(kase)) / judge::kBytesOfF32;
}

std::int64_t mixed_given_bytes(const cases::Case& kase) {
  return batch_bytes(kase) + (kase.steps + 2) * judge::kBytesOfF32;
}

judge::Formula<Bytes> mixed_peak(const cases::Case& kase) {
  const std::vector<LayerBytes> layers = layer_bytes(kase, DType::bf16);
  const judge::Formula<Bytes> standing =
      judge::named("number of weights", number_of_weights(kase)) * judge::Formula<Bytes>(Bytes(16)) +
      judge::named("batch, losses, flag and squares", Bytes(mixed_given_bytes(kase)));
  judge::Formula<Bytes> peak = Bytes(0);
  std::int64_t kept = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    kept += layers[l].input + layers[l].saved;
    const judge::Formula<Bytes> bytes =
        standing + judge::named(fmt::format("bf16 activations of layers 0-{}", l), Bytes(kept)) +
        judge::named(fmt::format("what backward of layer {} needs", l), Bytes(layers[l].backward - layers[l].saved));
    if (bytes.value() >= peak.value()) peak = bytes;
  }
  return peak;
}

judge::Formula<Bytes> mixed_wire_bytes(const cases::Case& kase, int rank) {
  std::int64_t bytes = 0;
  for (const LayerBytes& layer : layer_bytes(kase, DType::bf16)) {
    const Count count = layer.weights / 2;
    bytes += 2 * (2 * count - part_of(count, kase.ranks, rank).size() -
                  part_of(count, kase.ranks, (rank + 1) % kase.ranks).size());
  }
  const judge::Formula<Bytes> gradients = judge::named("gradients of 2 bytes", Bytes(2 * number_of_weights(kase)));
  return in_all_steps(kase, simplest(2 * share_of_others(Letters(kase).n) * gradients,
                                     judge::named("an all-reduce of each layer", Bytes(kase.ranks == 1 ? 0 : bytes))));
}

bool state_copied(const judge::CheckContext& check, int rank) {
  const front::KindBytes& kinds = check.counters(rank).peak_by_kind;
  const std::int64_t weights = number_of_weights(check.kase());
  return kinds[static_cast<std::size_t>(Kind::optimizer)].value() > 8 * weights ||
         kinds[static_cast<std::size_t>(Kind::parameter)].value() > 6 * weights;
}

bool computes_in_f32(const judge::CheckContext& check, int rank) {
  const cases::Case& kase = check.kase();
  const auto forwards = check.events(rank, front::EventKind::forward);
  const auto layers = static_cast<std::size_t>(number_of_layers(kase));
  if (forwards.size() < layers) return false;
  const std::int64_t standing = 16 * number_of_weights(kase) + mixed_given_bytes(kase);
  const std::int64_t activations = forwards[layers - 1].live_after.value() - standing;
  return near(static_cast<double>(activations) / static_cast<double>(after_forward(kase, DType::f32)), 1, kAlikeInBf16);
}

bool has_number_for_each_layer(const judge::CheckContext& check, int rank, Bytes budget) {
  const std::int64_t excess = check.peak(rank).value() - budget.value();
  const Bytes others = check.counters(rank).peak_by_kind[static_cast<std::size_t>(Kind::other)];
  const std::int64_t most = 2 * judge::kBytesOfF32 * number_of_layers(check.kase());
  return excess > 0 && excess <= most && others.value() - mixed_given_bytes(check.kase()) >= excess;
}

std::int64_t most_after_backward(const judge::CheckContext& check, int rank) {
  Bytes most;
  bool behind = false;  // a backward pass, and before the next forward
  for (const front::Event& event : check.trace(rank).events) {
    if (event.depth > 0) continue;
    if (event.kind == front::EventKind::forward) behind = false;
    if (behind) most = std::max(most, event.live_after);
    if (event.kind == front::EventKind::backward) behind = event.label.layer == 0;
  }
  return most.value();
}

bool clipped_by_layer(const cases::Case& kase, const reference::Layers& found, const reference::Reference& right) {
  const std::vector<double> factors = factors_by_layer(found, right.m);
  if (factors.size() < 2 || kase.steps > 1) return false;
  const auto norm_of_layers = [&](std::size_t first, std::size_t end) {
    using Distance = reference::Layers::difference_type;
    const auto begin = right.grads.begin();
    return norm_of({begin + static_cast<Distance>(first), begin + static_cast<Distance>(end)});
  };
  const auto clipped_by = [&](auto norm) {
    for (std::size_t l = 0; l < factors.size(); ++l) {
      const double factor = clip_factor_of(kase, norm(l)) / clip_factor_of(kase, right.norms.front());
      if (!near(factors[l], factor, kAlikeInBf16)) return false;
    }
    return true;
  };
  return clipped_by([&](std::size_t l) { return norm_of_layers(l, l + 1); }) ||
         clipped_by([&](std::size_t l) { return norm_of_layers(0, l + 1); }) ||
         clipped_by([&](std::size_t l) { return norm_of_layers(l, factors.size()); });
}

bool scaled_at_every_layer(const cases::Case& kase, const reference::Layers& found, const reference::Reference& right) {
  const std::vector<double> factors = factors_by_layer(found, right.m);
  if (factors.size() < 2 || kase.steps > 1) return false;
  const auto scale = static_cast<double>(kase.integer("scale"));
  for (std::size_t l = 0; l + 1 < factors.size(); ++l) {
    if (!near(factors[l], scale * factors[l + 1], kAlikeInBf16)) return false;
  }
  return true;
}

}  // namespace shardlings::grading::formulas

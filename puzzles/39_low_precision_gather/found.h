// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// What a run has left in 8 bits, step by step, and where it is wrong: for the grader.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "eight_bits.h"
#include "grading/formulas/mixed_step.h"
#include "grading/formulas/sharding_checks.h"

namespace shardlings::low_precision {

using namespace grader;

/// The names under which the harness publishes what step `step` leaves, from 1.
inline std::string of_step(const char* what, int step) {
  return std::string(what) + " of step " + std::to_string(step);
}

/// Not a bit may differ.
inline Layers no_tolerance(const Layers& layers) {
  Layers none;
  for (const std::vector<double>& layer : layers) none.emplace_back(layer.size(), 0.0);
  return none;
}

/// Master weights of the whole model before a step, as the run has left them.
inline Layers weights_before(const CheckContext& check, int step) {
  if (step == 1) return initial_weights<double>(check.kase());
  return found_layers(check.result(), of_step("weights", step - 1));
}

inline Layers codes_of(const std::vector<EightBitLayer>& layers) {
  Layers codes;
  for (const EightBitLayer& layer : layers) codes.push_back(layer.codes);
  return codes;
}
inline Layers scales_of(const std::vector<EightBitLayer>& layers) {
  Layers scales;
  for (const EightBitLayer& layer : layers) scales.push_back(layer.scales);
  return scales;
}

/// As a rank has them after a step; nothing if something is missing.
inline std::vector<EightBitLayer> found_on(const CheckContext& check, int step, int rank) {
  const Layers codes = found_layers(check.result(), of_step("codes", step));
  const Layers scales = layers_of_rank(check.result(), of_step("scales", step), rank);
  std::vector<EightBitLayer> layers;
  for (std::size_t l = 0; l < std::min(codes.size(), scales.size()); ++l) layers.push_back({scales[l], codes[l]});
  return layers;
}

inline bool same_numbers(const Layers& a, const Layers& b) {
  return same_sizes(a, b) && a == b;
}

/// Each rank has the scales that its part alone needs, in some layers, and in all others the right ones.
inline bool has_own_scales(const CheckContext& check, int step, const Layers& weights) {
  std::vector<Layers> found;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    found.push_back(layers_of_rank(check.result(), of_step("scales", step), rank));
    if (found.back().size() != weights.size()) return false;
  }
  bool any = false;
  for (std::size_t l = 0; l < weights.size(); ++l) {
    const auto n = static_cast<Count>(weights[l].size());
    const auto is_of = [&](int rank, Range part) {
      const auto blocks = static_cast<std::size_t>(scaling_blocks(n));
      return found[static_cast<std::size_t>(rank)][l] == shardlings::scales_of(weights[l], part, 0, blocks);
    };
    bool own = true, right = true;
    for (int rank = 0; rank < check.ranks(); ++rank) {
      own = own && is_of(rank, part_of(n, check.ranks(), rank));
      right = right && is_of(rank, {0, n});
    }
    if (!own && !right) return false;
    any = any || !right;
  }
  return any;
}

/// Whether the codes are those of the weights before the first step, and those have moved since.
inline bool has_first_codes(const CheckContext& check, int step) {
  const auto first = in_eight_bits(weights_before(check, 1), check.ranks());
  const auto now = in_eight_bits(weights_before(check, step), check.ranks());
  return step > 1 && first != now &&
         same_numbers(found_layers(check.result(), of_step("codes", step)), codes_of(first));
}

/// The gradient of rank r's tokens, with each rank's in 8 bits before they are added up, or the sum.
inline Layers quantized_gradient(const Case& kase, const MixedStep& expected, bool sum_only) {
  if (sum_only) return dequantized(in_eight_bits(expected.exact.sum, 1));
  Layers sum = scaled(expected.exact.sum, 0);
  for (int rank = 0; rank < kase.ranks; ++rank) {
    sum = combine(sum, 1, dequantized(in_eight_bits(expected.exact.local.at(static_cast<std::size_t>(rank)), 1)));
  }
  return sum;
}

/// In the first layer that differs some element is wrong by far.
inline bool is_far_off(const Layers& found, const MixedStep& expected) {
  const Layers& right = expected.exact.sum;
  if (!same_sizes(found, right) || !all_finite(found)) return true;
  for (std::size_t l = 0; l < right.size(); ++l) {
    double worst = 0;  // in tolerances
    for (std::size_t i = 0; i < right[l].size(); ++i) {
      worst = std::max(worst, std::abs(found[l][i] - right[l][i]) / expected.tolerance[l][i]);
    }
    if (worst > 1) return worst > 10;
  }
  return false;
}

/// Whether the scales are those of the weights before the first step, and those would need others now.
inline bool has_first_scales(const CheckContext& check, int step) {
  const Layers first = scales_of(in_eight_bits(weights_before(check, 1), check.ranks()));
  const Layers now = scales_of(in_eight_bits(weights_before(check, step), check.ranks()));
  return step > 1 && first != now && same_numbers(layers_of_rank(check.result(), of_step("scales", step), 0), first);
}

/// \name Places
/// @{
/// Weights that a scale belongs to.
inline Range weights_of_block(Count block, Count n) {
  return intersect({block * kScalingBlock, (block + 1) * kScalingBlock}, {0, n});
}
inline int owner_of(Count weight, Count n, int ranks) {
  int rank = 0;
  while (part_of(n, ranks, rank).end <= weight) ++rank;
  return rank;
}

/// Weights of the model that come back beyond the error bound: how many, and the first of them in words.
struct BeyondBound {
  Count number = 0;
  std::string first;
};
inline BeyondBound beyond_bound(const Layers& weights, const std::vector<EightBitLayer>& found,
                                const std::vector<EightBitLayer>& right, int ranks) {
  BeyondBound beyond;
  for (std::size_t l = 0; l < std::min(found.size(), weights.size()); ++l) {
    const bool comparable =
        found[l].codes.size() == weights[l].size() && found[l].scales.size() == right[l].scales.size();
    if (!comparable) continue;
    const std::vector<Count> here = beyond_error_bound(weights[l], found[l]);
    beyond.number += static_cast<Count>(here.size());
    if (here.empty() || !beyond.first.empty()) continue;
    const Count first = here.front(), n = static_cast<Count>(weights[l].size());
    beyond.first = fmt::format(
        "the first is number {} of layer {}, a weight of rank {} in block {}: {:.6g} comes back as {:.6g}", first, l,
        owner_of(first, n, ranks), first / kScalingBlock, weights[l][static_cast<std::size_t>(first)],
        dequantized(found[l])[static_cast<std::size_t>(first)]);
  }
  return beyond;
}

/// The first scale that a rank has wrong.
struct WrongScale {
  int rank = 0;
  std::size_t layer = 0;
  Count block = 0;
  double expected = 0, found = 0;
};
/// Nothing if all scales are right, or if the numbers of scales do not fit.
inline std::optional<WrongScale> first_wrong_scale(const CheckContext& check, int step, const Layers& right) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Layers found = layers_of_rank(check.result(), of_step("scales", step), rank);
    if (!same_sizes(found, right)) return std::nullopt;
    for (std::size_t l = 0; l < right.size(); ++l) {
      for (std::size_t b = 0; b < right[l].size(); ++b) {
        if (found[l][b] == right[l][b]) continue;
        return WrongScale{rank, l, static_cast<Count>(b), right[l][b], found[l][b]};
      }
    }
  }
  return std::nullopt;
}
/// @}

/// \name Rooms
/// The harness fills them with NaN: what is still NaN was not written, or made of what was not.
/// @{
inline bool has_nan(const Layers& layers) {
  return std::any_of(layers.begin(), layers.end(), [](const std::vector<double>& layer) {
    return std::any_of(layer.begin(), layer.end(), [](double x) { return std::isnan(x); });
  });
}
inline bool has_unwritten_scales(const CheckContext& check, int step) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (has_nan(layers_of_rank(check.result(), of_step("scales", step), rank))) return true;
  }
  return false;
}
/// @}

}  // namespace shardlings::low_precision

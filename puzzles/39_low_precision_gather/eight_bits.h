// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// Weights in 8 bits as the lesson defines them, in double precision and without the runtime's conversions; and what
// mistakes would make of them. For the grader.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/parts.h"
#include "grading/formulas/training.h"
#include "shardlings/ops.h"

namespace shardlings {

/// A layer's weights: the scales of its blocks, and codes as the numbers that they stand for.
struct EightBitLayer {
  std::vector<double> scales, codes;
  bool operator==(const EightBitLayer&) const = default;
};

/// The least power of two, from 2^-127 on, in units of which nothing is beyond 448.
inline double scale_for(double largest) {
  double scale = 0x1p-127;
  while (largest > 448 * scale) scale *= 2;
  return scale;
}

/// The nearest of 0, the multiples of 2^-9 up to 2^-6, and 8 numbers for each power of two up to 448; ties to even.
inline double nearest_code(double x) {
  const double absolute = std::min(std::abs(x), 448.0);
  const int exponent = absolute < 0x1p-6 ? -6 : std::ilogb(absolute);
  const double step = std::ldexp(1, exponent - 3);
  return std::copysign(std::min(std::nearbyint(absolute / step) * step, 448.0), x);
}

/// What goes wrong on the way to 8 bits, if anything.
enum class EightBitMistake : std::uint8_t {
  none,
  own_scales,       ///< a part's codes are in units of the scale that the part alone needs
  unscaled,         ///< all scales are 1
  rounded_to_bf16,  ///< before they become codes
};

/// The number that rank `rank` gives the first element of its part of n.
using FirstNumber = std::function<Count(Count n, int ranks, int rank)>;
inline Count right_first(Count n, int ranks, int rank) {
  return part_of(n, ranks, rank).begin;
}
/// In block_scales, and in quantize.
struct FirstNumbers {
  FirstNumber scales = right_first, codes = right_first;
};

/// Of these elements of a layer, by block; blocks begin at element `origin`.
inline std::vector<double> scales_of(const std::vector<double>& weights, Range part, Count origin, std::size_t blocks) {
  std::vector<double> largest(blocks, 0.0);
  for (Count i = part.begin; i < part.end; ++i) {
    double& block = largest.at(static_cast<std::size_t>((i - origin) / kScalingBlock));
    block = std::max(block, std::abs(weights[static_cast<std::size_t>(i)]));
  }
  std::transform(largest.begin(), largest.end(), largest.begin(), scale_for);
  return largest;
}

/// A layer of which each of `ranks` ranks makes its part.
inline EightBitLayer in_eight_bits(const std::vector<double>& weights, int ranks, EightBitMistake mistake,
                                   const FirstNumbers& firsts = {}) {
  const auto n = static_cast<Count>(weights.size());
  const auto blocks = static_cast<std::size_t>(scaling_blocks(n));
  EightBitLayer layer;
  layer.codes.resize(weights.size());
  const auto own_scales = [&](int rank) {
    const Range part = part_of(n, ranks, rank);
    return scales_of(weights, part, part.begin - firsts.scales(n, ranks, rank), blocks);
  };
  layer.scales = mistake == EightBitMistake::unscaled ? std::vector<double>(blocks, 1.0) : own_scales(0);
  for (int rank = 1; rank < ranks && mistake != EightBitMistake::unscaled; ++rank) {
    const std::vector<double> own = own_scales(rank);
    for (std::size_t b = 0; b < blocks; ++b) layer.scales[b] = std::max(layer.scales[b], own[b]);
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const Range part = part_of(n, ranks, rank);
    const std::vector<double> own = own_scales(rank);
    const Count origin = part.begin - firsts.codes(n, ranks, rank);
    const std::vector<double>& scales = mistake == EightBitMistake::own_scales ? own : layer.scales;
    for (Count i = part.begin; i < part.end; ++i) {
      const double weight = weights[static_cast<std::size_t>(i)];
      const double given =
          mistake == EightBitMistake::rounded_to_bf16 ? grading::reference::nearest_bf16(weight) : weight;
      const double scale = scales.at(static_cast<std::size_t>((i - origin) / kScalingBlock));
      layer.codes[static_cast<std::size_t>(i)] = nearest_code(given / scale);
    }
  }
  return layer;
}

inline std::vector<EightBitLayer> in_eight_bits(const grading::reference::Layers& weights, int ranks,
                                                EightBitMistake mistake = EightBitMistake::none,
                                                const FirstNumbers& firsts = {}) {
  std::vector<EightBitLayer> layers;
  for (const std::vector<double>& layer : weights) layers.push_back(in_eight_bits(layer, ranks, mistake, firsts));
  return layers;
}

/// Scales of all layers if the ranks put their parts of the whole list side by side, each as it has them by itself.
inline grading::reference::Layers scales_side_by_side(const grading::reference::Layers& weights, int ranks) {
  Count all = 0, begin = 0;
  for (const std::vector<double>& layer : weights) all += scaling_blocks(static_cast<Count>(layer.size()));
  grading::reference::Layers scales;
  for (const std::vector<double>& layer : weights) {
    const auto n = static_cast<Count>(layer.size());
    const Range here = {begin, begin + scaling_blocks(n)};
    std::vector<double>& found = scales.emplace_back(static_cast<std::size_t>(here.size()));
    for (int rank = 0; rank < ranks; ++rank) {
      const std::vector<double> own = scales_of(layer, part_of(n, ranks, rank), 0, found.size());
      const Range told = intersect(here, part_of(all, ranks, rank));
      for (Count b = told.begin; b < told.end; ++b) {
        found[static_cast<std::size_t>(b - begin)] = own[static_cast<std::size_t>(b - begin)];
      }
    }
    begin = here.end;
  }
  return scales;
}

/// Scale times code.
inline std::vector<double> dequantized(const EightBitLayer& layer) {
  std::vector<double> weights(layer.codes.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = layer.scales[i / static_cast<std::size_t>(kScalingBlock)] * layer.codes[i];
  }
  return weights;
}

inline grading::reference::Layers dequantized(const std::vector<EightBitLayer>& layers) {
  grading::reference::Layers weights;
  for (const EightBitLayer& layer : layers) weights.push_back(dequantized(layer));
  return weights;
}

/// Numbers of the weights that come back farther off than the format allows where the scale is the right one: a
/// sixteenth of themselves, or half of the least step.
inline std::vector<Count> beyond_error_bound(const std::vector<double>& weights, const EightBitLayer& found) {
  const EightBitLayer right = in_eight_bits(weights, 1, EightBitMistake::none);
  const std::vector<double> came_back = dequantized(found);
  std::vector<Count> beyond;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double scale = right.scales[i / static_cast<std::size_t>(kScalingBlock)];
    const double bound = std::max(std::abs(weights[i]) / 16, scale / 1024);
    if (!(std::abs(came_back[i] - weights[i]) <= bound)) beyond.push_back(static_cast<Count>(i));  // NaN is beyond
  }
  return beyond;
}

}  // namespace shardlings

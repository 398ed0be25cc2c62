#include "grading/judge/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shardlings::grading::judge {

bool close(double got, double expected, double tolerance) {
  return std::abs(got - expected) <= tolerance;
}

bool same_sizes(const reference::Layers& a, const reference::Layers& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.size() == y.size(); });
}

double distance(std::span<const float> got, std::span<const double> expected, std::span<const double> tolerance) {
  double farthest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double apart = std::abs(got[i] - expected[i]);
    if (apart == 0) continue;
    const double units = apart / tolerance[i];
    farthest = units < kFarthest ? std::max(farthest, units) : kFarthest;  // NaN is farthest, too
  }
  return farthest;
}

std::optional<Difference> first_difference(std::span<const float> got, std::span<const double> expected,
                                           std::span<const double> tolerance) {
  Difference difference;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (close(got[i], expected[i], tolerance[i])) continue;
    if (difference.count++ == 0) {
      difference.index = i;
      difference.got = got[i];
      difference.expected = expected[i];
      difference.tolerance = tolerance[i];
    }
  }
  if (difference.count == 0) return std::nullopt;
  difference.ratio = common_ratio(got, expected, tolerance);
  return difference;
}

std::optional<double> common_ratio(std::span<const float> got, std::span<const double> expected,
                                   std::span<const double> tolerance) {
  double product = 0, square = 0;  // the ratio of least squares
  for (std::size_t i = 0; i < got.size(); ++i) {
    product += static_cast<double>(got[i]) * expected[i];
    square += expected[i] * expected[i];
  }
  if (!(square > 0) || !std::isfinite(product)) return std::nullopt;
  const double ratio = product / square;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!close(got[i], ratio * expected[i], 2 * std::max(1.0, std::abs(ratio)) * tolerance[i])) return std::nullopt;
  }
  return ratio;
}

bool nearly_right(std::span<const float> got, std::span<const double> expected) {
  constexpr double kRounded = 0.015, kOne = 0.05;
  constexpr std::ptrdiff_t kFew = 8;
  if (std::count_if(expected.begin(), expected.end(), [](double value) { return value != 0; }) < kFew) return false;
  double squares = 0, apart = 0;
  for (const double value : expected) squares += value * value;
  const double usual = std::sqrt(squares / static_cast<double>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!close(got[i], expected[i], kOne * std::max(std::abs(expected[i]), usual))) return false;
    apart += (got[i] - expected[i]) * (got[i] - expected[i]);
  }
  return std::sqrt(apart) <= kRounded * std::sqrt(squares);
}

std::string ratio_text(double ratio) {
  if (std::abs(ratio) < 1e-9) return "every element is zero";
  if (ratio < 0) {
    return std::abs(ratio + 1) < 1e-3 ? "every element has the wrong sign"
                                      : fmt::format("every element is {:.4g} times what it should be", ratio);
  }
  if (ratio > 1) return fmt::format("every element is {:.4g} times too large", ratio);
  return fmt::format("every element is {:.4g} times too small", 1 / ratio);
}

std::string element_text(const cases::Case& kase, int layer, std::size_t index) {
  const auto flat = static_cast<Count>(index);
  if (layer >= 0 && kase.has_model()) {
    const model::ModelStructure structure = model::make_structure(kase.model);
    if (static_cast<std::size_t>(layer) < structure.layers.size()) {
      for (const Entry& entry : structure.layers[static_cast<std::size_t>(layer)].entries) {
        if (flat < entry.range.begin || flat >= entry.range.end) continue;
        const Count inside = flat - entry.range.begin;
        if (entry.cols <= 1) return fmt::format("{} (element {})", entry.name, inside);
        return fmt::format("{} (row {}, column {})", entry.name, inside / entry.cols, inside % entry.cols);
      }
    }
  }
  return fmt::format("element {}", index);
}

}  // namespace shardlings::grading::judge

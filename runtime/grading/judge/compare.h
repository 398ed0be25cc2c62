/// \file
/// Comparing what came back with what should have: NaN-safe, with the first difference and what they have in common.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "grading/reference/reference.h"

namespace shardlings::grading::judge {

struct Difference {
  std::size_t index = 0;  ///< of the first element that differs
  double got = 0;
  double expected = 0;
  double tolerance = 0;
  std::size_t count = 0;        ///< how many differ
  std::optional<double> ratio;  ///< got/expected, where that is one number for the whole tensor
};

/// Within the tolerance; never for NaN or infinity.
bool close(double got, double expected, double tolerance);

bool same_sizes(const reference::Layers& a, const reference::Layers& b);

/// What distance() answers where a number is not finite, or differs though nothing may.
inline constexpr double kFarthest = 1e12;

/// How far `got` is from `expected` where it is farthest, in units of the tolerance there: at most 1 if all are close.
/// All spans are equally long. At most kFarthest.
double distance(std::span<const float> got, std::span<const double> expected, std::span<const double> tolerance);

/// All spans are equally long. Nothing if every element is close.
std::optional<Difference> first_difference(std::span<const float> got, std::span<const double> expected,
                                           std::span<const double> tolerance);

/// The r with got = r expected for every element, within the tolerance that grows with r; not for expected = 0.
std::optional<double> common_ratio(std::span<const float> got, std::span<const double> expected,
                                   std::span<const double> tolerance);

/// Whether the numbers are right to about two digits, as roundings to bf16 (8 bits) on the way leave them: together off
/// by 1.5 % of their length, and no one by more than 5 % of itself or, where it is small, of the usual size of all. Of
/// less than eight numbers, such as a loss, it says nothing: any mistake can have so small an effect on them.
bool nearly_right(std::span<const float> got, std::span<const double> expected);

/// "every element is 4.000 times too large", "… has the wrong sign".
std::string ratio_text(double ratio);

/// "weight (row 3, column 5)": the matrix of layer l in which element `index` of its flat weights lies.
std::string element_text(const cases::Case& kase, int layer, std::size_t index);

}  // namespace shardlings::grading::judge

#include "grading/reference/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"

namespace shardlings::grading::reference {

double nearest_bf16(double value) {
  constexpr int kBits = 8;
  constexpr int kLeastUnit = -133;  // of numbers below the smallest normal one
  constexpr double kLargest = 0x1.FEp127;
  if (!std::isfinite(value) || value == 0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - kBits, kLeastUnit));
  const double nearest = std::nearbyint(value / unit) * unit;
  return std::abs(nearest) <= kLargest ? nearest : std::copysign(std::numeric_limits<double>::infinity(), value);
}

template <class Real>
Real Rounding<Real>::operator()(Real value) {
  constexpr std::uint64_t kStream = 0x5705;
  auto shaken = static_cast<double>(value);
  if (shake_ != 0) {
    const int way = static_cast<int>(below_at(3, shake_, numbers_++, kStream)) - 1;
    shaken *= 1 + 0x1p-20 * way;
  }
  return static_cast<Real>(nearest_bf16(shaken));
}

template class Rounding<float>;
template class Rounding<double>;

}  // namespace shardlings::grading::reference

/// \file
/// Integers with a unit, so that bytes, operations and times cannot be mixed up.
#pragma once

#include <compare>
#include <cstdint>

namespace shardlings {

/// An integer quantity of one unit. Sums and differences stay in the unit; a ratio of two is a number.
template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t value) : value_(value) {}
  constexpr std::int64_t value() const { return value_; }

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
  friend constexpr Quantity operator*(Quantity a, std::int64_t n) { return Quantity(a.value_ * n); }
  friend constexpr Quantity operator*(std::int64_t n, Quantity a) { return a * n; }
  friend constexpr double operator/(Quantity a, Quantity b) {
    return static_cast<double>(a.value_) / static_cast<double>(b.value_);
  }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  std::int64_t value_ = 0;
};

using Bytes = Quantity<struct BytesTag>;
using Flops = Quantity<struct FlopsTag>;
/// Virtual time, or a span of it, in nanoseconds.
using Nanos = Quantity<struct NanosTag>;

}  // namespace shardlings

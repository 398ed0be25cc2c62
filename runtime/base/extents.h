/// \file
/// Numbers of elements that can be calculated with: none of what is added or multiplied of them overflows.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "shardlings/tensor.h"

namespace shardlings {

/// More elements than any memory holds. Each extent of a shape stays below it, too, even next to an extent of zero.
/// The bytes of so many elements, and the sum of two such numbers, are far from the end of 64 bits.
inline constexpr Count kMostElements = Count{1} << 56;

/// The product of extents that are not negative; nothing if it exceeds kMostElements. Extents of zero are left out, so
/// that rows and columns can be multiplied whatever the third extent is.
constexpr std::optional<Count> product_of_positive(const Shape& shape) {
  Count product = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] < 0) return std::nullopt;
    if (shape[i] == 0) continue;
    if (__builtin_mul_overflow(product, shape[i], &product) || product > kMostElements) return std::nullopt;
  }
  return product;
}

/// By the number of extents: of so many bits each, no product of them is larger than kMostElements.
inline constexpr int kSmallBits[] = {56, 56, 28, 18, 14};

/// The extents are so small that no product of them is too large: most shapes, at a glance.
constexpr bool is_small(const Shape& shape) {
  static_assert(kMostElements == Count{1} << 56 && Shape::kMaxDims == 4);
  // Negative ones have high bits. What stands behind the last extent is zero in any shape of ours.
  const Count all = shape[0] | shape[1] | shape[2] | shape[3];
  return static_cast<std::uint64_t>(all) >> kSmallBits[shape.rank()] == 0;
}

/// Whether a tensor can have this shape, of no more than Shape::kMaxDims extents.
constexpr bool is_possible(const Shape& shape) {
  return is_small(shape) || product_of_positive(shape).has_value();
}

/// The shape with another extent `i`; of a shape without extents, one with this one.
constexpr Shape with_extent(const Shape& shape, int i, Count extent) {
  const auto at = [&](int d) { return d == i ? extent : shape[d]; };
  static_assert(Shape::kMaxDims == 4);
  switch (shape.rank()) {
    case 4: return {at(0), at(1), at(2), at(3)};
    case 3: return {at(0), at(1), at(2)};
    case 2: return {at(0), at(1)};
    default: return extent;
  }
}
/// The shape with another last extent.
constexpr Shape with_cols(const Shape& shape, Count cols) {
  return with_extent(shape, shape.rank() - 1, cols);
}
/// The shape with an extent more, the fastest one. It has less than Shape::kMaxDims.
constexpr Shape with_more_cols(const Shape& shape, Count cols) {
  switch (shape.rank()) {
    case 3: return {shape[0], shape[1], shape[2], cols};
    case 2: return {shape[0], shape[1], cols};
    default: return {shape.size(), cols};
  }
}

/// The product of numbers that are not negative, or the largest Count if that is too small.
constexpr Count bounded_product(std::initializer_list<Count> factors) {
  Count product = 1;
  for (const Count factor : factors) {
    product = detail::bounded_times(product, factor);
  }
  return product;
}

}  // namespace shardlings

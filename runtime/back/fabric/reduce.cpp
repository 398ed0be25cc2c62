#include "back/fabric/reduce.h"

#include <cstdint>
#include <cstring>

#include "base/bf16.h"

namespace shardlings::back {
namespace {

struct Sum {
  template <class T>
  static T apply(T a, T b) {
    return a + b;
  }
};
// NaN wins, as in the sum.
struct Max {
  template <class T>
  static T apply(T a, T b) {
    return a > b || a != a ? a : b;  // NOLINT(misc-redundant-expression): true for NaN
  }
};
struct Min {
  template <class T>
  static T apply(T a, T b) {
    return a < b || a != a ? a : b;  // NOLINT(misc-redundant-expression): true for NaN
  }
};

// Two inputs at a time read and written once; the order of additions is the inputs'.
template <class Op, class T>
void combine(const void* const* inputs, int count, Count n, T* __restrict result) {
  const T* first = static_cast<const T*>(inputs[0]);
  if (count == 1) {
    std::memcpy(result, first, static_cast<std::size_t>(n) * sizeof(T));
    return;
  }
  int i = 2;
  const T* second = static_cast<const T*>(inputs[1]);
  if (count == 2) {
    for (Count k = 0; k < n; ++k) result[k] = Op::apply(first[k], second[k]);
    return;
  }
  const T* third = static_cast<const T*>(inputs[2]);
  for (Count k = 0; k < n; ++k) result[k] = Op::apply(Op::apply(first[k], second[k]), third[k]);
  for (i = 3; i + 1 < count; i += 2) {
    const T* a = static_cast<const T*>(inputs[i]);
    const T* b = static_cast<const T*>(inputs[i + 1]);
    for (Count k = 0; k < n; ++k) result[k] = Op::apply(Op::apply(result[k], a[k]), b[k]);
  }
  if (i < count) {
    const T* a = static_cast<const T*>(inputs[i]);
    for (Count k = 0; k < n; ++k) result[k] = Op::apply(result[k], a[k]);
  }
}

template <class Op>
void combine_bf16(const void* const* inputs, int count, Count n, std::uint16_t* result, float factor) {
  for (Count k = 0; k < n; ++k) {
    float value = float_of_bf16(static_cast<const std::uint16_t*>(inputs[0])[k]);
    for (int i = 1; i < count; ++i)
      value = Op::apply(value, float_of_bf16(static_cast<const std::uint16_t*>(inputs[i])[k]));
    result[k] = bf16_of_float(factor == 1.0F ? value : value / factor);
  }
}

template <class Op>
void reduce_by(DType dtype, const void* const* inputs, int count, Count n, void* result, bool mean) {
  if (dtype == DType::bf16) {
    combine_bf16<Op>(inputs, count, n, static_cast<std::uint16_t*>(result), mean ? static_cast<float>(count) : 1.0F);
  } else if (dtype == DType::i32) {
    auto* values = static_cast<std::int32_t*>(result);
    combine<Op>(inputs, count, n, values);
    for (Count k = 0; mean && k < n; ++k) values[k] /= count;
  } else {
    auto* values = static_cast<float*>(result);
    combine<Op>(inputs, count, n, values);
    const auto divisor = static_cast<float>(count);
    for (Count k = 0; mean && k < n; ++k) values[k] /= divisor;
  }
}

}  // namespace

void reduce_ordered(DType dtype, ReduceOp op, const void* const* inputs, int count, Count n, void* result) {
  // Of scales there is but the largest: their codes rise with them, and NaN has the largest one.
  if (dtype == DType::e8m0) return combine<Max>(inputs, count, n, static_cast<std::uint8_t*>(result));
  switch (op) {
    case ReduceOp::sum: reduce_by<Sum>(dtype, inputs, count, n, result, false); break;
    case ReduceOp::mean: reduce_by<Sum>(dtype, inputs, count, n, result, true); break;
    case ReduceOp::max: reduce_by<Max>(dtype, inputs, count, n, result, false); break;
    case ReduceOp::min: reduce_by<Min>(dtype, inputs, count, n, result, false); break;
  }
}

}  // namespace shardlings::back

/// \file
/// Sizes and names of element types.
#pragma once

#include <cstdint>
#include <iterator>

#include "base/units.h"
#include "shardlings/group.h"
#include "shardlings/tensor.h"

namespace shardlings {

inline constexpr int kNumDTypes = 5;

/// Of an element of each type, in their order. A power of two, and so a look-up without a branch: what is no type has
/// any of these sizes.
inline constexpr std::uint8_t kSizesOf[8] = {4, 2, 4, 1, 1, 4, 4, 4};
static_assert(kNumDTypes == 5, "a new type needs its size above");

/// A look into a table: asked for with each argument of each operation.
constexpr std::int64_t size_of(DType dtype) {
  return kSizesOf[static_cast<unsigned>(dtype) % std::size(kSizesOf)];
}
/// f32 or bf16: what operations compute with.
constexpr bool is_float(DType dtype) {
  return dtype == DType::f32 || dtype == DType::bf16;
}
/// Numbers in 8 bits, or their scales: what is stored only.
constexpr bool is_one_byte(DType dtype) {
  return dtype == DType::e4m3 || dtype == DType::e8m0;
}
constexpr Bytes bytes_of(Count n, DType dtype) {
  return Bytes(n * size_of(dtype));
}

constexpr const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return "f32";
    case DType::bf16: return "bf16";
    case DType::i32: return "i32";
    case DType::e4m3: return "e4m3";
    case DType::e8m0: return "e8m0";
  }
  return "?";
}

inline constexpr int kNumKinds = 6;

constexpr const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::parameter: return "parameter";
    case Kind::gradient: return "gradient";
    case Kind::optimizer: return "optimizer";
    case Kind::activation: return "activation";
    case Kind::buffer: return "buffer";
    case Kind::other: return "other";
  }
  return "?";
}

constexpr const char* name_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum: return "sum";
    case ReduceOp::mean: return "mean";
    case ReduceOp::max: return "max";
    case ReduceOp::min: return "min";
  }
  return "?";
}

}  // namespace shardlings

/// \file
/// Sizes and names of element types.
#pragma once

#include "base/units.h"
#include "shardlings/group.h"
#include "shardlings/tensor.h"

namespace shardlings {

constexpr std::int64_t size_of(DType dtype) {
  return dtype == DType::bf16 ? 2 : 4;
}
constexpr Bytes bytes_of(Count n, DType dtype) {
  return Bytes(n * size_of(dtype));
}

constexpr const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return "f32";
    case DType::bf16: return "bf16";
    case DType::i32: return "i32";
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

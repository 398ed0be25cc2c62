/// \file
/// How many values the enumerations have that calls carry as numbers.
#pragma once

#include "base/dtype.h"
#include "shardlings/group.h"
#include "shardlings/ops.h"
#include "shardlings/tensor.h"

namespace shardlings::detail {

/// There is none for a type that has been forgotten here.
template <class Enum>
constexpr int choices_of() = delete;
template <>
constexpr int choices_of<DType>() {
  return kNumDTypes;
}
template <>
constexpr int choices_of<Kind>() {
  return kNumKinds;
}
template <>
constexpr int choices_of<ReduceOp>() {
  return static_cast<int>(ReduceOp::min) + 1;
}
template <>
constexpr int choices_of<Trans>() {
  return static_cast<int>(Trans::tt) + 1;
}

}  // namespace shardlings::detail

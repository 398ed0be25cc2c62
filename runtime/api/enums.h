/// \file
/// How many values the enumerations have that calls carry as numbers.
#pragma once

#include "base/dtype.h"
#include "shardlings/group.h"
#include "shardlings/ops.h"
#include "shardlings/tensor.h"

namespace shardlings::detail {

template <class Enum>
inline constexpr int kChoices = 0;
template <>
inline constexpr int kChoices<DType> = static_cast<int>(DType::i32) + 1;
template <>
inline constexpr int kChoices<Kind> = kNumKinds;
template <>
inline constexpr int kChoices<ReduceOp> = static_cast<int>(ReduceOp::min) + 1;
template <>
inline constexpr int kChoices<Trans> = static_cast<int>(Trans::tt) + 1;

}  // namespace shardlings::detail

/// \file
/// Ordered reduction of several inputs in host memory.
#pragma once

#include "shardlings/group.h"
#include "shardlings/tensor.h"

namespace shardlings::back {

/// result[i] = inputs[0][i] op inputs[1][i] op …, in this order; `mean` divides once at the end. bf16 is combined in
/// f32 and rounded once; the mean of i32 rounds towards zero.
void reduce_ordered(DType dtype, ReduceOp op, const void* const* inputs, int count, Count n, void* result);

}  // namespace shardlings::back

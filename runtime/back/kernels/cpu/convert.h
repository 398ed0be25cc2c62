/// \file
/// Whole arrays between bf16 and f32, for kernels that compute on f32 only.
#pragma once

#include "back/kernels/cpu/kernel.h"

namespace shardlings::back::cpu {

/// y[i] = x[i]
void widen(float* y, const Bf16* x, Count n);
/// y[i] = x[i], rounded to nearest even.
void narrow(Bf16* y, const float* x, Count n);

/// An input as f32: itself if it is one, else converted into `room` (n elements), which then moves on past them.
const float* as_floats(const void* x, DType dtype, Count n, float*& room);

}  // namespace shardlings::back::cpu

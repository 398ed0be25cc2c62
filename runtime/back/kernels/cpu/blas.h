/// \file
/// Single-precision matrix products of OpenBLAS, which is loaded when the first one is wanted.
///
/// Loaded late and by hand, because OpenBLAS reads its settings from the environment once, while it is being loaded:
/// one thread per rank, and the kernels that the processor supports.
#pragma once

#include "shardlings/tensor.h"

namespace shardlings::back::cpu {

/// A row-major matrix inside a larger one.
struct Matrix {
  const float* data;
  Count stride;             ///< elements between the starts of two rows
  bool transposed = false;  ///< used as its transpose
};

/// c (m, n; rows `stride` apart) = alpha op(a) op(b) + beta c, where op(a) is (m, k) and op(b) is (k, n). With beta 0,
/// c is not read. Throws std::runtime_error if OpenBLAS is missing or an extent exceeds its 32-bit integers.
void gemm(Count m, Count n, Count k, float alpha, Matrix a, Matrix b, float beta, float* c, Count stride);

}  // namespace shardlings::back::cpu

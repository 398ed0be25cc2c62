/// \file
/// Single-precision matrix products of OpenBLAS, which is loaded when the first one is wanted.
///
/// Loaded late and by hand, because OpenBLAS reads its settings from the environment once, while it is being loaded:
/// one thread per rank, and the kernels that the processor supports.
#pragma once

#include <new>

#include "shardlings/tensor.h"

namespace shardlings::back::cpu {

/// A row-major matrix inside a larger one.
struct Matrix {
  const float* data;
  Count stride;             ///< elements between the starts of two rows
  bool transposed = false;  ///< used as its transpose
};

/// Says, as long as it lives, that one more thread may call gemm(). OpenBLAS takes a workspace of 128 MiB for each
/// product that is under way, and where the system gives it none, it asks again for ever: so the first product of all
/// sees to a workspace for every user beforehand.
class ProductUser {
 public:
  ProductUser();
  ~ProductUser();
  ProductUser(const ProductUser&) = delete;
  ProductUser& operator=(const ProductUser&) = delete;
};

/// The host has no memory for the workspaces of OpenBLAS.
class NoWorkspace : public std::bad_alloc {
 public:
  const char* what() const noexcept override;
};

/// c (m, n; rows `stride` apart) = alpha op(a) op(b) + beta c, where op(a) is (m, k) and op(b) is (k, n). With beta 0,
/// c is not read. Throws NoWorkspace, MachineFault if OpenBLAS is missing, std::runtime_error if an extent exceeds its
/// 32-bit integers.
void gemm(Count m, Count n, Count k, float alpha, Matrix a, Matrix b, float beta, float* c, Count stride);

}  // namespace shardlings::back::cpu

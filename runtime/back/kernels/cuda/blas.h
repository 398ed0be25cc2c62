/// \file
/// Matrix products of cuBLAS on one stream.
///
/// f32 is computed as f32: never with TF32, whose products keep 10 bits. bf16 is multiplied by tensor cores and summed
/// in f32, also where the library sums in parts.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "shardlings/tensor.h"

namespace shardlings::back::cuda {

/// A row-major matrix inside a larger one, and where the next of its kind begins.
struct Matrix {
  const void* data = nullptr;
  Count stride = 0;         ///< elements between the starts of two rows
  bool transposed = false;  ///< used as its transpose
  Count next = 0;           ///< elements between the starts of two matrices
};

/// c = alpha op(a) op(b) + beta c, `count` times. op(a) is (m, k), op(b) is (k, n).
struct Product {
  Count m = 0, n = 0, k = 0;
  Matrix a, b;
  DType dtype = DType::f32;  ///< of a and b
  void* c = nullptr;
  Count stride_c = 0;
  Count next_c = 0;
  DType dtype_c = DType::f32;
  Count count = 1;
  float alpha = 1;
  float beta = 0;  ///< with 0, c is not read
};

class Blas {
 public:
  explicit Blas(cudaStream_t stream) : stream_(stream) {}
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  /// No extent may be 0. The library is set up at the first product.
  void multiply(const Product& product);

 private:
  void set_up();

  cudaStream_t stream_;
  cublasHandle_t handle_ = nullptr;
};

}  // namespace shardlings::back::cuda

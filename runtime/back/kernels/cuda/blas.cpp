#include "back/kernels/cuda/blas.h"

#include "back/kernels/cuda/check.h"

namespace shardlings::back::cuda {
namespace {

cudaDataType_t type_of(DType dtype) {
  return dtype == DType::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

cublasOperation_t operation(const Matrix& matrix) {
  return matrix.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

}  // namespace

Blas::~Blas() {
  if (handle_ != nullptr) cublasDestroy(handle_);
}

void Blas::set_up() {
  check(cublasCreate(&handle_), "cublasCreate");
  check(cublasSetStream(handle_, stream_), "cublasSetStream");
  check(cublasSetMathMode(
            handle_, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
        "cublasSetMathMode");
}

// cuBLAS reads matrices by columns, and what is row-major by rows is the transpose by columns: so it is asked for
// c^T = op(b)^T op(a)^T, and each operand is already there as the transpose of itself.
void Blas::multiply(const Product& p) {
  if (handle_ == nullptr) set_up();
  check(cublasGemmStridedBatchedEx_64(handle_, operation(p.b), operation(p.a), p.n, p.m, p.k, &p.alpha, p.b.data,
                                      type_of(p.dtype), p.b.stride, p.b.next, p.a.data, type_of(p.dtype), p.a.stride,
                                      p.a.next, &p.beta, p.c, type_of(p.dtype_c), p.stride_c, p.next_c, p.count,
                                      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        "cublasGemmStridedBatchedEx");
}

}  // namespace shardlings::back::cuda

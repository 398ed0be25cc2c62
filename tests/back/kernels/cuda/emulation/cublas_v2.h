/// \file
/// What the CUDA backend uses of cuBLAS, for a processor.
#pragma once

#include <cuda_runtime_api.h>

struct cublasContext;
using cublasHandle_t = cublasContext*;

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_ALLOC_FAILED = 3, CUBLAS_STATUS_INVALID_VALUE = 7 };
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_16BF = 14 };
enum cublasComputeType_t { CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_TF32 = 77 };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1 };
enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
};

const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
/// Refuses TF32, which this project never asks for.
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
/// c (m, n) = alpha op(a) op(b) + beta c by columns, `count` times; sums in f32, in order.
cublasStatus_t cublasGemmStridedBatchedEx_64(cublasHandle_t handle, cublasOperation_t trans_a,
                                             cublasOperation_t trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
                                             const void* alpha, const void* a, cudaDataType_t type_a, std::int64_t lda,
                                             long long next_a, const void* b, cudaDataType_t type_b, std::int64_t ldb,
                                             long long next_b, const void* beta, void* c, cudaDataType_t type_c,
                                             std::int64_t ldc, long long next_c, std::int64_t count,
                                             cublasComputeType_t compute, cublasGemmAlgo_t algorithm);

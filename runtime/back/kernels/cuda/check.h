/// \file
/// Errors of CUDA and cuBLAS as exceptions.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <string>

namespace shardlings::back::cuda {

/// "cudaMallocAsync: out of memory (cudaErrorMemoryAllocation)", and what to do where that is known.
std::string describe(cudaError_t error, const char* call);
std::string describe(cublasStatus_t status, const char* call);

/// Throws std::bad_alloc if the GPU has no memory left, std::runtime_error with describe() for all else.
void check(cudaError_t error, const char* call);
void check(cublasStatus_t status, const char* call);

}  // namespace shardlings::back::cuda

#include "back/kernels/cuda/check.h"

#include <fmt/format.h>

#include <new>
#include <stdexcept>

namespace shardlings::back::cuda {
namespace {

/// What somebody at the keyboard can do about it; empty if nothing in particular.
const char* advice(cudaError_t error) {
  switch (error) {
    case cudaErrorNoDevice: return "This machine has no NVIDIA GPU, or it is hidden (CUDA_VISIBLE_DEVICES)";
    case cudaErrorInsufficientDriver:
      return "The NVIDIA driver is missing, or older than the CUDA toolkit: install a newer driver";
    case cudaErrorNoKernelImageForDevice:
      return "The library was built for other GPUs: configure with -DSHARDLINGS_CUDA_ARCHITECTURES=native";
    case cudaErrorUnsupportedPtxVersion:
      return "The driver is older than the CUDA toolkit and cannot translate its code: install a newer driver, or "
             "configure with -DSHARDLINGS_CUDA_ARCHITECTURES=native";
    case cudaErrorDevicesUnavailable: return "The GPU is in use by another program that has it for itself";
    case cudaErrorSystemDriverMismatch: return "The driver's parts do not fit one another: restart the machine";
    default: return "";
  }
}

}  // namespace

std::string describe(cudaError_t error, const char* call) {
  const std::string what = fmt::format("{}: {} ({})", call, cudaGetErrorString(error), cudaGetErrorName(error));
  const std::string help = advice(error);
  return help.empty() ? what : fmt::format("{}. {}", what, help);
}

std::string describe(cublasStatus_t status, const char* call) {
  return fmt::format("{}: {} ({})", call, cublasGetStatusName(status), cublasGetStatusString(status));
}

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // or the next launch would report it once more
  if (error == cudaErrorMemoryAllocation) throw std::bad_alloc();
  throw std::runtime_error(describe(error, call));
}

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw std::bad_alloc();
  throw std::runtime_error(describe(status, call));
}

}  // namespace shardlings::back::cuda

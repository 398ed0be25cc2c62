// What is left of the runtime, and cuBLAS.
#include <cublas_v2.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "back/kernels/cuda/device.h"
#include "back/kernels/cuda/emulation/emulation.h"
#include "back/kernels/cuda/emulation/streams.h"

namespace {

/// A matrix by columns, of f32 or bf16.
struct Columns {
  void* data;
  cudaDataType_t type;
  std::int64_t stride;
  float get(std::int64_t row, std::int64_t col) const {
    const std::int64_t at = col * stride + row;
    if (type == CUDA_R_32F) return static_cast<const float*>(data)[at];
    return std::bit_cast<float>(static_cast<std::uint32_t>(static_cast<const std::uint16_t*>(data)[at]) << 16U);
  }
  void set(std::int64_t row, std::int64_t col, float value) const {
    const std::int64_t at = col * stride + row;
    if (type == CUDA_R_32F) {
      static_cast<float*>(data)[at] = value;
      return;
    }
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U;
    static_cast<std::uint16_t*>(data)[at] =
        static_cast<std::uint16_t>(value != value ? (bits >> 16U) | 0x40U : rounded);
  }
  Columns moved(long long elements) const {
    return {static_cast<char*>(data) + elements * (type == CUDA_R_32F ? 4 : 2), type, stride};
  }
};

struct Gemm {
  cublasOperation_t trans_a, trans_b;
  std::int64_t m, n, k, count;
  float alpha, beta;
  Columns a, b, c;
  long long next_a, next_b, next_c;

  void run() const {
    for (std::int64_t i = 0; i < count; ++i) multiply(a.moved(i * next_a), b.moved(i * next_b), c.moved(i * next_c));
  }
  void multiply(const Columns& x, const Columns& y, const Columns& z) const {
    const std::vector<float> left = rows_of(x, trans_a, m);
    const std::vector<float> right = rows_of(y, trans_b == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N, n);
    const auto inner = static_cast<std::size_t>(k);
    for (std::int64_t col = 0; col < n; ++col) {
      for (std::int64_t row = 0; row < m; ++row) {
        const float* a_row = left.data() + static_cast<std::size_t>(row) * inner;
        const float* b_row = right.data() + static_cast<std::size_t>(col) * inner;
        float sum = 0;
        for (std::size_t l = 0; l < inner; ++l) sum += a_row[l] * b_row[l];
        z.set(row, col, alpha * sum + (beta == 0 ? 0.0F : beta * z.get(row, col)));
      }
    }
  }
  /// op(x), of k columns, row by row.
  std::vector<float> rows_of(const Columns& x, cublasOperation_t trans, std::int64_t rows) const {
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(rows * k));
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t l = 0; l < k; ++l) values.push_back(trans == CUBLAS_OP_N ? x.get(row, l) : x.get(l, row));
    }
    return values;
  }
};

}  // namespace

struct cublasContext {
  cudaStream_t stream = nullptr;
};

const char* cublasGetStatusName(cublasStatus_t) {
  return "CUBLAS_STATUS";
}
const char* cublasGetStatusString(cublasStatus_t) {
  return "refused by the emulation";
}
cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t mode) {
  return (mode & 15) == CUBLAS_DEFAULT_MATH ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasGemmStridedBatchedEx_64(cublasHandle_t handle, cublasOperation_t trans_a,
                                             cublasOperation_t trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
                                             const void* alpha, const void* a, cudaDataType_t type_a, std::int64_t lda,
                                             long long next_a, const void* b, cudaDataType_t type_b, std::int64_t ldb,
                                             long long next_b, const void* beta, void* c, cudaDataType_t type_c,
                                             std::int64_t ldc, long long next_c, std::int64_t count,
                                             cublasComputeType_t compute, cublasGemmAlgo_t) {
  const bool types = type_a == type_b && (type_c == type_a || type_c == CUDA_R_32F);
  const bool strides = lda >= std::max<std::int64_t>(1, trans_a == CUBLAS_OP_N ? m : k) &&
                       ldb >= std::max<std::int64_t>(1, trans_b == CUBLAS_OP_N ? k : n) &&
                       ldc >= std::max<std::int64_t>(1, m);
  const bool apart = count == 1 || next_c != 0;
  if (!types || !strides || !apart || m < 0 || n < 0 || k < 0 || compute != CUBLAS_COMPUTE_32F) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  Gemm gemm{trans_a,
            trans_b,
            m,
            n,
            k,
            count,
            0,
            0,
            {const_cast<void*>(a), type_a, lda},  // NOLINT: not written
            {const_cast<void*>(b), type_b, ldb},
            {c, type_c, ldc},
            next_a,
            next_b,
            next_c};
  std::memcpy(&gemm.alpha, alpha, sizeof gemm.alpha);
  std::memcpy(&gemm.beta, beta, sizeof gemm.beta);
  shardlings::emulation::enqueue(handle->stream, [gemm] { gemm.run(); });
  return CUBLAS_STATUS_SUCCESS;
}

namespace {
thread_local cudaError_t last_error = cudaSuccess;
}

const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "cudaError";
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : "an error of the emulation";
}
cudaError_t cudaGetLastError() {
  return std::exchange(last_error, cudaSuccess);
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {"emulated GPU", std::size_t{1} << 30, 8, 0};
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : cudaErrorInvalidValue;
}

namespace shardlings::emulation {

std::unique_ptr<back::Device> make_device() {
  return back::cuda::make_device(0, back::make_cpu_device());
}

}  // namespace shardlings::emulation

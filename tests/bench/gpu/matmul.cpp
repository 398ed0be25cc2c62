// Matrix products through the kernels seam, beside cuBLAS called directly with the same shapes and types: what the seam
// leaves of the library's speed. Products of a large GPT: the feed-forward part and attention's inputs.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "back/kernels/kernel_ids.h"
#include "base/dtype.h"
#include "bench/gpu/bench.h"

namespace shardlings::bench {
namespace {

constexpr double kTera = 1e12;

struct Product {
  Count m, n, k;
  bool transpose_a, transpose_b;
};

void check(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string(what) + " has failed");
}

/// cuBLAS alone, on its own stream and memory, with a generous workspace.
class Ceiling {
 public:
  Ceiling() {
    check(cublasCreate(&handle_) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
    check(cudaMalloc(&workspace_, kWorkspace) == cudaSuccess, "cudaMalloc");
    cublasSetWorkspace(handle_, workspace_, kWorkspace);
    cublasSetMathMode(handle_, CUBLAS_DEFAULT_MATH);
  }
  ~Ceiling() {
    cublasDestroy(handle_);
    cudaFree(workspace_);
  }
  Ceiling(const Ceiling&) = delete;
  Ceiling& operator=(const Ceiling&) = delete;

  /// Row-major matrices are column-major ones transposed: C^T = B^T A^T.
  void multiply(const Product& p, DType dtype, void* c, const void* a, const void* b) {
    const float one = 1, zero = 0;
    const cudaDataType_t type = dtype == DType::bf16 ? CUDA_R_16BF : CUDA_R_32F;
    const auto number = [](Count n) { return static_cast<int>(n); };
    check(cublasGemmEx(handle_, p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                       number(p.n), number(p.m), number(p.k), &one, b, type, number(p.transpose_b ? p.k : p.n), a, type,
                       number(p.transpose_a ? p.m : p.k), &zero, c, type, number(p.n), CUBLAS_COMPUTE_32F,
                       CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS,
          "cublasGemmEx");
  }

 private:
  static constexpr std::size_t kWorkspace = std::size_t{32} << 20U;
  cublasHandle_t handle_ = nullptr;
  void* workspace_ = nullptr;
};

void compare(const Place& place, back::Device& device, Ceiling& ceiling, const Product& p, DType dtype) {
  const std::array<Count, 3> counts = {p.m * p.n, p.m * p.k, p.k * p.n};
  std::array<void*, 3> memory{};
  for (std::size_t i = 0; i < memory.size(); ++i) {
    memory[i] = device.allocate(bytes_of(counts[i], dtype));
    back::Kernel random;
    random.id = back::KernelId::random_normal;
    random.dtype = dtype;
    random.out[0] = memory[i];
    random.n[0] = counts[i];
    random.n[1] = static_cast<Count>(i);
    random.f[0] = 1;
    device.launch(random);
  }
  device.synchronize();
  back::Kernel product;
  product.id = back::KernelId::matmul;
  product.dtype = dtype;
  product.out[0] = memory[0];
  product.in[0] = memory[1];
  product.in[1] = memory[2];
  const std::array<Count, 7> numbers = {p.m, p.n, p.k, p.transpose_a, p.transpose_b, 0, static_cast<Count>(dtype)};
  std::copy(numbers.begin(), numbers.end(), product.n);
  const double flops = 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  const double ours = seconds_of([&] { device.synchronize(); }, [&] { device.launch(product); }, place.is_trial);
  const double best = seconds_of([] { cudaDeviceSynchronize(); },
                                 [&] { ceiling.multiply(p, dtype, memory[0], memory[1], memory[2]); }, place.is_trial);
  print(fmt::format("matmul {} ({}, {}, {}) {}{}", name_of(dtype), p.m, p.n, p.k, p.transpose_a ? "t" : "n",
                    p.transpose_b ? "t" : "n"),
        flops / ours / kTera, "TFLOP/s", flops / best / kTera, "cuBLAS");
  for (std::size_t i = 0; i < memory.size(); ++i) device.release(memory[i], bytes_of(counts[i], dtype));
}

void matmul(const Place& place) {
  if (place.is_trial) {
    fmt::print("skipped: cuBLAS takes a GPU\n");
    return;
  }
  const auto device = place.make_device();
  check(cudaSetDevice(0) == cudaSuccess, "cudaSetDevice");
  Ceiling ceiling;
  for (const DType dtype : {DType::bf16, DType::f32}) {
    for (const Product& product : {Product{8192, 8192, 2048, false, true}, Product{8192, 2048, 8192, false, true},
                                   Product{8192, 2048, 8192, false, false}, Product{8192, 2048, 8192, true, false},
                                   Product{1024, 1024, 1024, false, true}}) {
      compare(place, *device, ceiling, product, dtype);
    }
  }
}

}  // namespace
}  // namespace shardlings::bench

int main(int argc, char** argv) {
  return shardlings::bench::run(argc, argv, 1, shardlings::bench::matmul);
}

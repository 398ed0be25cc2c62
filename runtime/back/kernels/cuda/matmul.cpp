// Matrix products.
#include "back/kernels/cuda/blas.h"
#include "back/kernels/cuda/table.h"

namespace shardlings::back::cuda {
namespace {

void matmul(const Kernel& k, const LaneContext& lane) {
  Product p;
  p.m = k.n[0];
  p.n = k.n[1];
  p.k = k.n[2];
  const bool trans_a = k.n[3] != 0;
  const bool trans_b = k.n[4] != 0;
  const bool adds = k.n[5] != 0;
  if (p.m == 0 || p.n == 0) return;
  p.dtype = k.dtype;
  p.dtype_c = k.dtype == DType::bf16 ? static_cast<DType>(k.n[6]) : DType::f32;
  if (p.k == 0) {
    const auto size = static_cast<std::size_t>(p.m * p.n * (p.dtype_c == DType::bf16 ? 2 : 4));
    if (!adds) check(cudaMemsetAsync(k.out[0], 0, size, lane.stream), "cudaMemsetAsync");
    return;
  }
  p.a = {k.in[0], trans_a ? p.m : p.k, trans_a, 0};
  p.b = {k.in[1], trans_b ? p.k : p.n, trans_b, 0};
  p.c = k.out[0];
  p.stride_c = p.n;
  p.beta = adds ? 1.0F : 0.0F;
  lane.blas->multiply(p);
}

}  // namespace

void add_matmul_kernels(KernelTable& table) {
  table[KernelId::matmul] = matmul;
}

}  // namespace shardlings::back::cuda

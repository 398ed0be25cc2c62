// Matrix products: BLAS on f32; bf16 is converted before and rounded once after.
#include "back/kernels/cpu/blas.h"
#include "back/kernels/cpu/convert.h"
#include "back/kernels/cpu/table.h"

namespace shardlings::back::cpu {
namespace {

void matmul(const Kernel& k, Workspace& workspace) {
  const Count m = k.n[0];
  const Count n = k.n[1];
  const Count inner = k.n[2];
  const bool trans_a = k.n[3] != 0;
  const bool trans_b = k.n[4] != 0;
  const bool adds = k.n[5] != 0;
  const bool from_bf16 = k.dtype == DType::bf16;
  const bool to_bf16 = from_bf16 && static_cast<DType>(k.n[6]) == DType::bf16;

  const Count scratch = (from_bf16 ? m * inner + inner * n : 0) + (to_bf16 ? m * n : 0);
  float* room = workspace.floats(static_cast<std::size_t>(scratch));
  const Matrix a{as_floats(k.in[0], k.dtype, m * inner, room), trans_a ? m : inner, trans_a};
  const Matrix b{as_floats(k.in[1], k.dtype, inner * n, room), trans_b ? inner : n, trans_b};
  float* c = to_bf16 ? room : out<float>(k, 0);
  if (to_bf16 && adds) widen(c, out<Bf16>(k, 0), m * n);
  gemm(m, n, inner, 1.0F, a, b, adds ? 1.0F : 0.0F, c, n);
  if (to_bf16) narrow(out<Bf16>(k, 0), c, m * n);
}

}  // namespace

void add_matmul_kernels(KernelTable& table) {
  table[KernelId::matmul] = matmul;
}

}  // namespace shardlings::back::cpu

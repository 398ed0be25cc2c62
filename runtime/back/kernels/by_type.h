/// \file
/// What backends that compute by functions share: a bf16 in memory, the choice of a type by a kernel's dtype, and which
/// function belongs to which kernel.
#pragma once

#include <array>
#include <cstdint>

#include "back/kernels/kernel_ids.h"

namespace shardlings::back {

/// A bf16 in memory: the upper half of an f32 (sign, 8 bits of exponent, 7 of mantissa).
struct Bf16 {
  std::uint16_t bits;
};

/// A number in 8 bits in memory: see base/float8.h.
struct E4m3 {
  std::uint8_t bits;
};

/// Calls f with a value of the element type, which is only good for its type: float or Bf16.
template <class F>
void by_float(DType dtype, F f) {
  if (dtype == DType::bf16) {
    f(Bf16{});
  } else {
    f(0.0F);
  }
}

/// As by_float, for two types: of the operands, and of what is accumulated.
template <class F>
void by_floats(DType operands, Count accumulated, F f) {
  if (operands != DType::bf16) {
    f(0.0F, 0.0F);
  } else if (static_cast<DType>(accumulated) == DType::bf16) {
    f(Bf16{}, Bf16{});
  } else {
    f(Bf16{}, 0.0F);
  }
}

/// Functions by kernel. Each file of kernels fills in its own.
template <class Function>
class FunctionTable {
 public:
  Function& operator[](KernelId id) { return functions_[static_cast<std::size_t>(id)]; }
  Function operator[](KernelId id) const { return functions_[static_cast<std::size_t>(id)]; }

 private:
  std::array<Function, kKernels> functions_{};
};

}  // namespace shardlings::back

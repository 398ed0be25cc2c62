/// \file
/// What tensors weigh in mixed precision, where programs say f32.
#pragma once

#include "base/dtype.h"
#include "shardlings/tensor.h"

namespace shardlings::front {

/// Bytes of so many elements: in memory, on links, and read or written by operations.
///
/// `mixed`: as a program in mixed precision would have it that computes and sends in 16 bits and keeps the optimizer's
/// states in 32 (Micikevicius et al. 2018; Rajbhandari et al. 2020, section 3.1). Weights, activations, gradients and
/// buffers of f32 weigh 2 bytes an element. The moments stay 4, and a master copy of each weight is counted with them:
/// Adam's two moments carry one, so an element of the optimizer's weighs 6. All else weighs what it is.
///
/// `f32_gradients`: micro-batches add their gradients up in 32 bits, as Megatron-LM does (main_grad, 4 bytes an
/// element); what is sent of them stays at 16.
constexpr Bytes weight(Count n, DType dtype, Kind kind, bool mixed, bool f32_gradients = false) {
  if (!mixed || dtype != DType::f32 || kind == Kind::other) return bytes_of(n, dtype);
  if (f32_gradients && kind == Kind::gradient) return Bytes(4 * n);
  return Bytes((kind == Kind::optimizer ? 6 : 2) * n);
}

}  // namespace shardlings::front

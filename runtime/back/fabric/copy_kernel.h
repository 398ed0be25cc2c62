/// \file
/// The kernel with which a fabric moves elements inside one device's memory.
#pragma once

#include "back/kernels/kernel_ids.h"
#include "back/kernels/kernels.h"
#include "base/dtype.h"

namespace shardlings::back {

inline Kernel copy_kernel(void* to, const void* from, Count count, DType dtype) {
  Kernel kernel;
  kernel.id = KernelId::copy;
  kernel.dtype = dtype;
  kernel.out[0] = to;
  kernel.in[0] = from;
  kernel.n[0] = bytes_of(count, dtype).value();
  return kernel;
}

}  // namespace shardlings::back

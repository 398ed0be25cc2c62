/// \file
/// The GPUs of this machine, asked of CUDA.
#pragma once

#include "back/kernels/gpus.h"

namespace shardlings::back::cuda {

Gpus find_cuda_gpus();

}  // namespace shardlings::back::cuda

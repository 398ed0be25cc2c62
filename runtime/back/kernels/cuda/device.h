/// \file
/// A rank's device on a GPU, which it may share with others of the process.
#pragma once

#include <memory>

#include "back/kernels/kernels.h"

namespace shardlings::back::cuda {

/// `host` computes on the host's lane. Throws std::runtime_error if there is no such GPU.
std::unique_ptr<Device> make_device(int gpu, std::unique_ptr<Device> host);

}  // namespace shardlings::back::cuda

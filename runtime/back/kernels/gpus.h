/// \file
/// The GPUs that CUDA finds, and devices on them.
///
/// All that needs CUDA lies in a library of its own, which is loaded when it is first asked for. So programs start as
/// fast without a GPU as before, and run where neither driver nor toolkit is installed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "back/kernels/kernels.h"

namespace shardlings::back {

struct Gpu {
  std::string name;
  int capability = 0;  ///< ten times the version of the architecture: 90 is 9.0
  Bytes memory;
};

struct Gpus {
  std::vector<Gpu> found;
  std::string problem;  ///< why there are none, and what to do about it; empty if there are some
  int driver = 0;       ///< CUDA version of the driver: 13000 is 13.0; 0: there is none
  int toolkit = 0;      ///< that the library was built with; 0: it was not built
};

/// Looks each time anew; never throws.
Gpus find_gpus();

/// A rank's device on GPU number `gpu`, of which other ranks may have devices, too. Throws std::runtime_error with the
/// problem.
std::unique_ptr<Device> make_cuda_device(int gpu);

/// The address of an extern "C" function of the CUDA library, which is loaded first. Throws std::runtime_error with
/// what is missing.
void* find_in_cuda_library(const char* name);

}  // namespace shardlings::back

#include <cuda_runtime_api.h>

#include "back/kernels/cuda/check.h"
#include "back/kernels/cuda/cuda_gpus.h"

namespace shardlings::back::cuda {

Gpus find_cuda_gpus() {
  Gpus gpus;
  gpus.toolkit = CUDART_VERSION;
  if (cudaDriverGetVersion(&gpus.driver) != cudaSuccess) gpus.driver = 0;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    cudaGetLastError();
    gpus.problem = describe(error, "cudaGetDeviceCount");
    return gpus;
  }
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) continue;
    gpus.found.push_back({properties.name, 10 * properties.major + properties.minor,
                          Bytes(static_cast<std::int64_t>(properties.totalGlobalMem))});
  }
  if (gpus.found.empty()) gpus.problem = describe(cudaErrorNoDevice, "cudaGetDeviceCount");
  return gpus;
}

}  // namespace shardlings::back::cuda

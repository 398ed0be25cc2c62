#include "back/kernels/cuda/entry.h"

#include "back/kernels/cuda/cuda_gpus.h"
#include "back/kernels/cuda/device.h"
#include "shardlings/export.h"

namespace {

const shardlings::back::cuda::Entry kEntry = {
    shardlings::back::cuda::kEntryVersion, shardlings::back::cuda::find_cuda_gpus, shardlings::back::cuda::make_device};

}  // namespace

extern "C" SHARDLINGS_API const shardlings::back::cuda::Entry* shardlings_cuda_entry();
extern "C" const shardlings::back::cuda::Entry* shardlings_cuda_entry() {
  return &kEntry;
}

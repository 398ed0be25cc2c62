// Fake GPUs as the library that the runtime loads for real ones, so that everything from the command line to the
// verdict can be tried without a GPU. It stands for both libraries: libshardlings_nccl.so beside it is a link to it.
// SHARDLINGS_FAKE_GPUS says how many GPUs there are (8).
#include <cstdlib>

#include "back/fabric/nccl/api.h"
#include "back/kernels/cuda/entry.h"
#include "shardlings/export.h"
#include "support/fake_gpu.h"
#include "support/fake_nccl.h"

namespace shardlings::support {
namespace {

constexpr int kVersion = 12000;

FakeGpus& gpus() {
  static auto* all = new FakeGpus({1, 20});  // never destroyed: what uses them may outlive main()
  return *all;
}

back::Gpus find() {
  const char* text = std::getenv("SHARDLINGS_FAKE_GPUS");
  const int number = text ? std::atoi(text) : 8;
  back::Gpus found;
  found.driver = found.toolkit = kVersion;
  for (int i = 0; i < number; ++i) found.found.push_back({"fake GPU", 80, Bytes(std::int64_t{1} << 34)});
  if (number == 0) found.problem = "there is no NVIDIA driver: install it";
  return found;
}

std::unique_ptr<back::Device> make(int, std::unique_ptr<back::Device>) {
  return gpus().make_device();
}

}  // namespace
}  // namespace shardlings::support

extern "C" {
SHARDLINGS_API const shardlings::back::cuda::Entry* shardlings_cuda_entry();
const shardlings::back::cuda::Entry* shardlings_cuda_entry() {
  using namespace shardlings;
  static const back::cuda::Entry entry{back::cuda::kEntryVersion, support::find, support::make};
  return &entry;
}

SHARDLINGS_API shardlings::back::nccl::Api* shardlings_nccl_api();
shardlings::back::nccl::Api* shardlings_nccl_api() {
  static auto* nccl = new shardlings::support::FakeNccl(shardlings::support::gpus());
  return nccl;
}
}

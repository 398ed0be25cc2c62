// The table of kernels is complete, and the library that nvcc has built loads.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "back/kernels/cuda/entry.h"
#include "back/kernels/cuda/table.h"
#include "back/kernels/gpus.h"

namespace shardlings::back::cuda {
namespace {

TEST(CudaKernels, ThereIsOneForEveryId) {
  for (int id = 0; id < kKernels; ++id) {
    EXPECT_NE(kernel_table()[static_cast<KernelId>(id)], nullptr) << "kernel " << id;
  }
}

TEST(CudaLibrary, LoadsWithWhatItWasLinkedTo) {
  const std::string path = SHARDLINGS_CUDA_LIBRARY;
  if (path.empty()) GTEST_SKIP() << "built without CUDA: needs nvcc where CMake finds it, or CUDA_PATH set to it";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto entry = reinterpret_cast<EntryFunction>(dlsym(library, kEntryName));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry()->version, kEntryVersion);
  const Gpus gpus = entry()->find_gpus();  // works without a driver, too
  EXPECT_GT(gpus.toolkit, 0);
  EXPECT_NE(gpus.found.empty(), gpus.problem.empty());
}

TEST(CudaLibrary, SaysWhyThereIsNoGpu) {
  const Gpus gpus = find_gpus();
  if (!gpus.found.empty())
    GTEST_SKIP() << "here is a GPU: needs a machine without one, where something is missing that can be named";
  EXPECT_FALSE(gpus.problem.empty());
  try {
    make_cuda_device(0);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_FALSE(std::string(error.what()).empty());
  }
}

}  // namespace
}  // namespace shardlings::back::cuda

#include "support/test_device.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "back/kernels/cuda/emulation/emulation.h"
#include "back/kernels/gpus.h"

namespace shardlings::support {
namespace {

TestDevice chosen() {
  const char* told = std::getenv("SHARDLINGS_TEST_DEVICE");
  const std::string name = told != nullptr ? told : "cpu";
  if (name == "cpu") return {.name = name, .make = back::make_cpu_device};
  if (name == "cuda") return cuda_device();
  if (name == "cuda_emulated") return emulated_cuda_device();
  throw std::runtime_error("SHARDLINGS_TEST_DEVICE is " + name + ": use cpu, cuda_emulated or cuda");
}

/// Without the device, every test of the program is skipped, and says why.
class Needed : public testing::Environment {
 public:
  void SetUp() override {
    const std::string missing = test_device().missing();
    if (missing.empty()) return;
    // GoogleTest 1.12 counts tests that an environment skips as passed; ctest knows them by this line.
    std::cout << no_cuda_device(missing) << std::endl;  // NOLINT: before anything else fails
    GTEST_SKIP() << no_cuda_device(missing);
  }
};

[[maybe_unused]] testing::Environment* const kNeeded = testing::AddGlobalTestEnvironment(new Needed);

}  // namespace

std::string no_cuda_device(const std::string& missing) {
  return "no CUDA device: " + missing + ". It takes an NVIDIA GPU and a build with CUDA's toolkit: docs/gpu.md";
}

TestDevice cuda_device() {
  return {.name = "cuda",
          .make = [] { return back::make_cuda_device(0); },
          .own_arithmetic = true,
          .same_bits_at = 4,
          .missing = [] { return back::find_gpus().problem; }};
}

TestDevice emulated_cuda_device() {
  return {.name = "cuda_emulated", .make = emulation::make_device, .own_arithmetic = true};
}

const TestDevice& test_device() {
  static const TestDevice device = chosen();
  return device;
}

}  // namespace shardlings::support

/// \file
/// On which kind of device a test program computes: the same tests for all of them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "back/kernels/kernels.h"

namespace shardlings::support {

struct TestDevice {
  std::string name;
  std::function<std::unique_ptr<back::Device>()> make;
  /// It does not run the CPU's kernels: sums may be made in another order, and an exp may differ in its last bit.
  bool own_arithmetic = false;
  /// Only tensors that begin at multiples of so many elements get the same bits: a library may choose its algorithm by
  /// the alignment of what it is given.
  Count same_bits_at = 1;
  std::function<std::string()> missing = [] { return std::string(); };  ///< why it cannot be used here; empty if it can
};

/// Why a test that needs a GPU is skipped, and where it is not. tests/CMakeLists.txt looks for how it begins.
std::string no_cuda_device(const std::string& missing);

/// Chosen by the environment: SHARDLINGS_TEST_DEVICE is cpu (the default), cuda_emulated or cuda.
const TestDevice& test_device();
/// The first GPU of this machine, for every rank.
TestDevice cuda_device();
/// The CUDA backend on the host's processor.
TestDevice emulated_cuda_device();

}  // namespace shardlings::support

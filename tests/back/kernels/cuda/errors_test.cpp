// Errors of CUDA and cuBLAS become exceptions that say what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "back/kernels/cuda/check.h"
#include "back/kernels/cuda/device.h"

namespace shardlings::back::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Errors, NothingIsThrownForSuccess) {
  EXPECT_NO_THROW(check(cudaSuccess, "cudaFree"));
  EXPECT_NO_THROW(check(CUBLAS_STATUS_SUCCESS, "cublasCreate"));
}

TEST(Errors, NoMemoryIsBadAlloc) {
  EXPECT_THROW(check(cudaErrorMemoryAllocation, "cudaMallocAsync"), std::bad_alloc);
  EXPECT_THROW(check(CUBLAS_STATUS_ALLOC_FAILED, "cublasCreate"), std::bad_alloc);
}

TEST(Errors, NameTheCall) {
  try {
    check(cudaErrorInvalidValue, "cudaMemcpyAsync");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cudaMemcpyAsync: "));
  }
  EXPECT_THROW(check(CUBLAS_STATUS_INVALID_VALUE, "cublasGemmEx"), std::runtime_error);
}

TEST(Errors, SayWhatToDo) {
  EXPECT_THAT(describe(cudaErrorNoDevice, "x"), HasSubstr("CUDA_VISIBLE_DEVICES"));
  EXPECT_THAT(describe(cudaErrorInsufficientDriver, "x"), HasSubstr("install a newer driver"));
  EXPECT_THAT(describe(cudaErrorNoKernelImageForDevice, "x"), HasSubstr("-DSHARDLINGS_CUDA_ARCHITECTURES=native"));
  EXPECT_THAT(describe(cudaErrorUnsupportedPtxVersion, "x"), AllOf(HasSubstr("driver"), HasSubstr("native")));
}

TEST(Errors, AGpuThatIsNotThereIsNamed) {
  try {
    make_device(3, make_cpu_device());
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "there is no GPU 3: this machine has 1, numbered from 0");
  }
}

}  // namespace
}  // namespace shardlings::back::cuda

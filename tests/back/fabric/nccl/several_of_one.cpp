// Several GPUs made of the first, so that NCCL can be tried between ranks on a machine that has only one. Preloaded, or
// linked before the C library; without the variable SHARDLINGS_TEST_GPUS it changes nothing.
//
// The runtime is told of so many GPUs, and gets the first for each. NCCL refuses two ranks on one GPU of one host, so
// every thread has a host name of its own: NCCL makes each rank's end of a communicator in a thread of its own, takes
// the ranks for ranks of several hosts, and moves what they exchange through sockets. That proves which calls are made,
// in which order, on which streams and with what outcome; it says nothing about NVLink, or about speed.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define TEXT_AS_IT_IS(name) #name
#define TEXT_OF(name) TEXT_AS_IT_IS(name)

namespace {

int gpus_wanted() {
  const char* text = std::getenv("SHARDLINGS_TEST_GPUS");
  return text != nullptr ? std::atoi(text) : 0;
}

/// The function of that name that would be called without this file.
template <class Function>
Function real(const char* library, const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    // The runtime opens CUDA's library for itself alone, where RTLD_NEXT does not look.
    if (void* opened = dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) found = dlsym(opened, name);
  }
  if (found == nullptr) {
    std::fprintf(stderr, "several_of_one: there is no %s\n", name);
    std::abort();
  }
  return reinterpret_cast<Function>(found);
}

constexpr int kMajor = CUDART_VERSION / 1000;

const char* cudart() {
  static char name[64];
  std::snprintf(name, sizeof name, "libcudart.so.%d", kMajor);
  return name;
}

int gpu_for(int gpu) {
  return gpus_wanted() > 0 ? 0 : gpu;
}

}  // namespace

#pragma GCC visibility push(default)  // the build hides names that are not asked for
extern "C" {

int gethostname(char* name, size_t size) noexcept {
  if (gpus_wanted() > 0) {
    const int written = std::snprintf(name, size, "rank-of-thread-%ld", syscall(SYS_gettid));
    return written < 0 || static_cast<size_t>(written) >= size ? -1 : 0;
  }
  return real<int (*)(char*, size_t)>("libc.so.6", "gethostname")(name, size);
}

cudaError_t cudaGetDeviceCount(int* count) {
  const cudaError_t error = real<cudaError_t (*)(int*)>(cudart(), "cudaGetDeviceCount")(count);
  if (error == cudaSuccess && *count > 0 && gpus_wanted() > 0) *count = gpus_wanted();
  return error;
}

cudaError_t cudaSetDevice(int gpu) {
  return real<cudaError_t (*)(int)>(cudart(), "cudaSetDevice")(gpu_for(gpu));
}

// In some versions of CUDA the name is a macro, and the function has another one.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int gpu) {
  constexpr const char* kName = TEXT_OF(cudaGetDeviceProperties);
  return real<cudaError_t (*)(cudaDeviceProp*, int)>(cudart(), kName)(properties, gpu_for(gpu));
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  cudaMemPoolProps first = *properties;
  first.location.id = gpu_for(first.location.id);
  return real<cudaError_t (*)(cudaMemPool_t*, const cudaMemPoolProps*)>(cudart(), "cudaMemPoolCreate")(pool, &first);
}

}  // extern "C"
#pragma GCC visibility pop

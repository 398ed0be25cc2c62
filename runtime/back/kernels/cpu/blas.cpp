#include "back/kernels/cpu/blas.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <stdexcept>

#include "back/kernels/cpu/blas_workspaces.h"
#include "base/machine_fault.h"

namespace shardlings::back::cpu {
namespace {

// The C interface to BLAS (Blackford et al. 2002, annex B) as OpenBLAS exports it: enumerations are ints.
constexpr int kRowMajor = 101;
constexpr int kNoTrans = 111;
constexpr int kTrans = 112;
using Sgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a, int lda,
                       const float* b, int ldb, float beta, float* c, int ldc);
using SetNumThreads = void (*)(int threads);

struct Blas {
  Sgemm sgemm = nullptr;
  TakeWorkspace take = nullptr;  // nullptr: of another make, which has no such thing
  GiveWorkspaceBack give_back = nullptr;
};

std::atomic<int> g_users{0};  // NOLINT: the library that they use is one for the whole process, too

void choose_settings() {
  setenv("OPENBLAS_NUM_THREADS", "1", 1);  // ranks are the parallelism, and several threads would sum in varying order
#ifdef __x86_64__
  // An OpenBLAS older than the processor falls back to AVX2, which takes twice as long.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  }
#endif
}

void* open_library() {
  constexpr const char* kNames[] = {SHARDLINGS_OPENBLAS, "libopenblas.so.0"};
  for (const char* name : kNames) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  const char* reason = dlerror();
  if (!is_room_for_workspace()) no_room_for_workspace();  // nor for the library
  throw MachineFault(
      fmt::format("matrix products need OpenBLAS, which does not load ({}). Where it is missing, on Debian or "
                  "Ubuntu: apt-get install libopenblas-dev (or just run ./shardlings)",
                  reason != nullptr ? reason : "no reason given"));
}

/// Never unloaded: OpenBLAS may hold threads and memory until the process ends.
Blas load_blas() {
  choose_settings();
  void* library = open_library();
  Blas blas;
  blas.sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  if (blas.sgemm == nullptr) throw MachineFault("the OpenBLAS library " SHARDLINGS_OPENBLAS " has no cblas_sgemm");
  if (const auto set = reinterpret_cast<SetNumThreads>(dlsym(library, "openblas_set_num_threads"))) set(1);
  blas.take = reinterpret_cast<TakeWorkspace>(dlsym(library, "blas_memory_alloc"));
  blas.give_back = reinterpret_cast<GiveWorkspaceBack>(dlsym(library, "blas_memory_free"));
  if (blas.give_back == nullptr) blas.take = nullptr;
  return blas;
}

int narrow(Count n) {
  if (n > INT_MAX) {
    throw std::runtime_error(
        fmt::format("a matrix product with an extent of {}: OpenBLAS counts to {} only", n, INT_MAX));
  }
  return static_cast<int>(n);
}

void clear(float* c, Count rows, Count cols, Count stride) {
  for (Count i = 0; i < rows; ++i) {
    for (Count j = 0; j < cols; ++j) c[i * stride + j] = 0;
  }
}

}  // namespace

ProductUser::ProductUser() {
  ++g_users;
}

ProductUser::~ProductUser() {
  --g_users;
}

const char* NoWorkspace::what() const noexcept {
  return "the machine has no memory for matrix products: OpenBLAS wants 128 MiB for each rank that multiplies. End "
         "other programs, or raise the limit (ulimit -v, or that of the container)";
}

void gemm(Count m, Count n, Count k, float alpha, Matrix a, Matrix b, float beta, float* c, Count stride) {
  constexpr int kMostWorkspaces = 64;  // OpenBLAS counts them in a table of fixed size
  static const Blas blas = load_blas();
  static Workspaces workspaces;
  if (blas.take != nullptr)
    workspaces.provide(blas.take, blas.give_back, std::min(g_users.load(std::memory_order_relaxed), kMostWorkspaces));
  if (m == 0 || n == 0) return;
  if (k == 0) {
    if (beta == 0) clear(c, m, n, stride);
    return;
  }
  blas.sgemm(kRowMajor, a.transposed ? kTrans : kNoTrans, b.transposed ? kTrans : kNoTrans, narrow(m), narrow(n),
             narrow(k), alpha, a.data, narrow(a.stride), b.data, narrow(b.stride), beta, c, narrow(stride));
}

}  // namespace shardlings::back::cpu

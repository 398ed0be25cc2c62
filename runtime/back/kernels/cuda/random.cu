// Normal numbers from a counter: element i is a function of seed and i alone, so that shards agree with the whole, and
// the GPU with the CPU.
#include "base/random.h"

#include "back/kernels/cuda/element.h"
#include "back/kernels/cuda/table.h"

namespace shardlings::back::cuda {
namespace {

/// As shardlings::normals, with the GPU's logarithm, cosine and sine: they differ from the host's by an ulp of double,
/// which disappears in the rounding to float but for about one number in ten million.
__device__ inline void normal_block(std::uint64_t seed, std::uint64_t block, float (&normals)[4]) {
  const std::array<std::uint32_t, 4> words = random_words(seed, block);
  for (int pair = 0; pair < 4; pair += 2) {
    const double radius = sqrt(-2 * log(unit_interval(words[pair])));
    const double angle = 2 * std::numbers::pi * unit_interval(words[pair + 1]);
    normals[pair] = static_cast<float>(radius * cos(angle));
    normals[pair + 1] = static_cast<float>(radius * sin(angle));
  }
}

/// A thread makes the part of four consecutive numbers of the stream that [first, first + n) holds.
template <class T>
__global__ void random_normal_kernel(T* y, Count n, std::uint64_t seed, std::uint64_t first, float deviation) {
  const std::uint64_t begin = first / 4;
  const std::uint64_t blocks = (first + static_cast<std::uint64_t>(n) + 3) / 4 - begin;
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t b = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; b < blocks; b += step) {
    float normals[4];
    normal_block(seed, begin + b, normals);
    for (int j = 0; j < 4; ++j) {
      const std::uint64_t element = 4 * (begin + b) + static_cast<std::uint64_t>(j);
      if (element < first || element - first >= static_cast<std::uint64_t>(n)) continue;
      store(y[element - first], deviation * normals[j]);
    }
  }
}

void random_normal(const Kernel& k, const LaneContext& lane) {
  if (k.n[0] == 0) return;
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    enqueue(lane, grid_for(k.n[0] / 4 + 2), random_normal_kernel<T>, out<T>(k, 0), k.n[0],
            static_cast<std::uint64_t>(k.n[1]), static_cast<std::uint64_t>(k.n[2]), k.f[0]);
  });
}

}  // namespace

void add_random_kernels(KernelTable& table) {
  table[KernelId::random_normal] = random_normal;
}

}  // namespace shardlings::back::cuda

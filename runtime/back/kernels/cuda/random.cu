// Random numbers from a counter: each is a function of seed, stream and its number alone, so that shards agree with the
// whole, and the GPU with the CPU.
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

/// What dropout() is told: see KernelId::dropout.
struct DropoutPlan {
  Count b, w;
  std::uint64_t seed, stream;
  Count first, by_position, by_sequence;
  std::uint64_t dropped_below;
  float factor;
};

/// Each element draws by itself: at most four threads make the same four words, beside a memory that is slower.
template <class T>
__global__ void dropout_kernel(T* x, Count n, DropoutPlan plan) {
  const Count step = static_cast<Count>(gridDim.x) * blockDim.x;
  for (Count i = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const Count row = i / plan.w;
    const Count number = plan.first + row / plan.b * plan.by_position + row % plan.b * plan.by_sequence + i % plan.w;
    const std::uint32_t word = random_word_at(plan.seed, static_cast<std::uint64_t>(number), plan.stream);
    store(x[i], word < plan.dropped_below ? 0.0F : load(x[i]) * plan.factor);
  }
}

void dropout(const Kernel& k, const LaneContext& lane) {
  const Count n = k.n[0] * k.n[1] * k.n[2];
  if (n == 0) return;
  const DropoutPlan plan{k.n[1],
                         k.n[2],
                         static_cast<std::uint64_t>(k.n[3]),
                         static_cast<std::uint64_t>(k.n[4]),
                         k.n[5],
                         k.n[6],
                         k.n[7],
                         words_below(k.f[1]),
                         k.f[0]};
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    enqueue(lane, grid_for(n), dropout_kernel<T>, out<T>(k, 0), n, plan);
  });
}

}  // namespace

void add_random_kernels(KernelTable& table) {
  table[KernelId::random_normal] = random_normal;
  table[KernelId::dropout] = dropout;
}

}  // namespace shardlings::back::cuda

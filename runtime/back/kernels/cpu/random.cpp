// Random numbers from a counter: each is a function of seed, stream and its number alone, so that shards agree with the
// whole.
#include <algorithm>
#include <array>

#include "back/kernels/cpu/table.h"
#include "base/random.h"

namespace shardlings::back::cpu {
namespace {

void random_normal(const Kernel& k, Workspace&) {
  const auto seed = static_cast<std::uint64_t>(k.n[1]);
  const auto first = static_cast<std::uint64_t>(k.n[2]);
  by_float(k.dtype, [&](auto type) {
    auto* y = out<decltype(type)>(k, 0);
    std::array<float, 4> block{};
    for (Count i = 0; i < k.n[0]; ++i) {
      const std::uint64_t element = first + static_cast<std::uint64_t>(i);
      if (i == 0 || element % 4 == 0) block = normals(seed, element / 4);
      store(y[i], k.f[0] * block[element % 4]);
    }
  });
}

/// Of one row of x, (w), whose first element draws number `first`.
template <class T>
void drop_row(T* x, Count w, std::uint64_t seed, std::uint64_t stream, std::uint64_t first, float factor,
              std::uint64_t dropped_below) {
  std::array<std::uint32_t, 4> block{};
  for (Count i = 0; i < w; ++i) {
    const std::uint64_t number = first + static_cast<std::uint64_t>(i);
    if (i == 0 || number % 4 == 0) block = random_words(seed, number / 4, stream);
    store(x[i], block[number % 4] < dropped_below ? 0.0F : load(x[i]) * factor);
  }
}

void dropout(const Kernel& k, Workspace&) {
  const Count s = k.n[0], b = k.n[1], w = k.n[2];
  const std::uint64_t dropped_below = words_below(k.f[1]);
  by_float(k.dtype, [&](auto type) {
    auto* x = out<decltype(type)>(k, 0);
    for (Count row = 0; row < s * b; ++row) {
      const Count first = k.n[5] + row / b * k.n[6] + row % b * k.n[7];
      drop_row(x + row * w, w, static_cast<std::uint64_t>(k.n[3]), static_cast<std::uint64_t>(k.n[4]),
               static_cast<std::uint64_t>(first), k.f[0], dropped_below);
    }
  });
}

}  // namespace

void add_random_kernels(KernelTable& table) {
  table[KernelId::random_normal] = random_normal;
  table[KernelId::dropout] = dropout;
}

}  // namespace shardlings::back::cpu

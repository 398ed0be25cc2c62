// Normal numbers from a counter: element i is a function of seed and i alone, so that shards agree with the whole.
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

}  // namespace

void add_random_kernels(KernelTable& table) {
  table[KernelId::random_normal] = random_normal;
}

}  // namespace shardlings::back::cpu

// Normal numbers from a counter: element i is a function of seed and i alone, so that shards agree with the whole.
#include <array>
#include <cmath>
#include <numbers>

#include "back/kernels/cpu/table.h"

namespace shardlings::back::cpu {
namespace {

using Block = std::array<std::uint32_t, 4>;

/// Philox 4x32 with 10 rounds (Salmon et al. 2011, section 3.3).
Block philox(std::uint64_t seed, std::uint64_t counter) {
  Block x = {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32U), 0, 0};
  auto key0 = static_cast<std::uint32_t>(seed);
  auto key1 = static_cast<std::uint32_t>(seed >> 32U);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53U} * x[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57U} * x[2];
    x = {static_cast<std::uint32_t>(b >> 32U) ^ x[1] ^ key0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32U) ^ x[3] ^ key1, static_cast<std::uint32_t>(a)};
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return x;
}

/// In (0, 1).
double uniform(std::uint32_t bits) {
  return (static_cast<double>(bits) + 0.5) / 4294967296.0;
}

/// The four numbers of a block (Box and Muller 1958).
std::array<float, 4> normals(std::uint64_t seed, std::uint64_t counter) {
  const Block x = philox(seed, counter);
  std::array<float, 4> result{};
  for (std::size_t pair = 0; pair < 2; ++pair) {
    const double radius = std::sqrt(-2.0 * std::log(uniform(x[2 * pair])));
    const double angle = 2.0 * std::numbers::pi * uniform(x[2 * pair + 1]);
    result[2 * pair] = static_cast<float>(radius * std::cos(angle));
    result[2 * pair + 1] = static_cast<float>(radius * std::sin(angle));
  }
  return result;
}

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

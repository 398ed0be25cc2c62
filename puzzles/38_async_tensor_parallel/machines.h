// Machines for which the learner is asked for a number of chunks, beside the one on which a case runs: harness and
// grader draw the same ones.
#pragma once

#include <cmath>
#include <vector>

#include "base/random.h"
#include "base/units.h"

namespace shardlings {

/// What number_of_chunks is told; times in ns.
struct Machine {
  Count positions = 1;
  double latency = 0, transfer = 0, launch = 0, compute = 0;
};

/// From few positions, where one chunk more or less makes most, to many; from slow links to machines that hardly
/// compute. Every sixth one moves and computes for so much longer than it needs to begin that many chunks are best.
inline std::vector<Machine> drawn_machines(std::uint64_t seed) {
  constexpr std::uint64_t kStream = 38, kNumbers = 5;
  constexpr std::uint32_t kFewPositions = 12, kMostPositions = 48, kManyPositions = 400;
  constexpr std::size_t kMachines = 60;
  // Evenly in the logarithm, so that each order of magnitude is as frequent as the others.
  const auto between = [&](double least, double most, std::uint64_t index) {
    return least * std::pow(most / least, unit_interval(random_word_at(seed, index, kStream)));
  };
  std::vector<Machine> machines(kMachines);
  for (std::size_t i = 0; i < kMachines; ++i) {
    const std::uint64_t at = i * kNumbers;
    machines[i] = {1 + Count(below_at(i % 2 == 0 ? kMostPositions : kFewPositions, seed, at, kStream)),
                   between(100, 5'000, at + 1), between(1'000, 200'000, at + 2), between(50, 5'000, at + 3),
                   between(1'000, 400'000, at + 4)};
    if (i % 6 != 5) continue;
    machines[i] = {kMostPositions + Count(below_at(kManyPositions, seed, at, kStream)), between(20, 100, at + 1),
                   between(1e5, 1e6, at + 2), between(20, 100, at + 3), between(1e5, 1e6, at + 4)};
  }
  return machines;
}

}  // namespace shardlings

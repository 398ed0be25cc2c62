// What the ranks' losses pull the weights towards, where a case's gradients depend on them: harness and grader know it.
#pragma once

#include <cstddef>
#include <vector>

#include "base/units.h"

namespace shardlings {

/// Rank r's loss is half of the squared distance from its targets. The last k elements have targets that are far away,
/// on opposite sides for even and odd ranks, so that their mean is 0; all others are the same on all ranks.
template <class Case>
std::vector<float> targets_of(const Case& kase, int rank) {
  const auto far = static_cast<float>(kase.number("far"));
  const Count elements = kase.integer("elements"), k = kase.integer("k");
  std::vector<float> targets;
  for (Count i = 0; i < elements; ++i) {
    constexpr Count kSteps = 5, kLargest = 9;
    const float near = 1 + static_cast<float>(i * kSteps % kLargest);
    targets.push_back(i < elements - k ? near : rank % 2 == 0 ? far : -far);
  }
  return targets;
}

/// Where the sum of all losses is least.
template <class Case>
std::vector<double> optimum_of(const Case& kase) {
  std::vector<double> mean(static_cast<std::size_t>(kase.integer("elements")));
  for (int rank = 0; rank < kase.ranks; ++rank) {
    const std::vector<float> targets = targets_of(kase, rank);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += static_cast<double>(targets[i]) / kase.ranks;
  }
  return mean;
}

template <class Case>
bool is_pulled(const Case& kase) {
  return kase.number("far") > 0;
}

/// Gradients are no whole numbers, so that a sum depends on the order of its summands.
template <class Case>
bool is_rounded(const Case& kase) {
  return kase.numbers.count("rounded") > 0;
}

}  // namespace shardlings

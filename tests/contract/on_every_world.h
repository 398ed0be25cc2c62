/// \file
/// Base of the contract tests: each runs on every kind of world, which must all show the same.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "support/worlds.h"

namespace shardlings::contract {

/// How far arithmetic of another order may lead: some roundings of a sum, in f32, and of intermediate results in bf16.
inline constexpr double kCloseF32 = 1e-5;
inline constexpr double kCloseBf16 = 4.0 / 256;

class OnEveryWorld : public testing::TestWithParam<support::WorldKind> {
 protected:
  void SetUp() override {
    const std::string missing = GetParam().missing();
    if (!missing.empty()) GTEST_SKIP() << "no CUDA device: " << missing;
  }

  int least(int ranks) const { return std::max(ranks, GetParam().min_ranks); }
  int most(int ranks) const { return std::min(ranks, GetParam().max_ranks); }
  bool supports(int ranks) const { return least(ranks) == ranks && most(ranks) == ranks; }

  /// Runs on this kind of world with delays, and compares everything with threads and CPU devices; with a
  /// tolerance for what a kind of world computes with arithmetic of its own.
  front::RunReport run(int ranks, const support::Body& body, double tolerance = 0) const {
    return support::run_and_compare(GetParam(), support::options_for(ranks), {1, 50}, body, tolerance);
  }
};

/// For INSTANTIATE_TEST_SUITE_P, beside testing::ValuesIn(support::world_kinds()).
inline std::string name_of_world(const testing::TestParamInfo<support::WorldKind>& info) {
  return info.param.name;
}

}  // namespace shardlings::contract

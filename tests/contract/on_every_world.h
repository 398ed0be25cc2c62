/// \file
/// Base of the contract tests: each runs on every kind of world, which must all show the same.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include "support/test_device.h"
#include "support/worlds.h"

namespace shardlings::contract {

/// How far arithmetic of another order may lead: some roundings of a sum, in f32, and of intermediate results in bf16.
inline constexpr double kCloseF32 = 1e-5;
inline constexpr double kCloseBf16 = 4.0 / 256;

class OnEveryWorld : public testing::TestWithParam<support::WorldKind> {
 protected:
  void SetUp() override {
    const std::string missing = GetParam().missing();
    if (!missing.empty()) GTEST_SKIP() << support::no_cuda_device(missing);
  }

  int least(int ranks) const { return std::max(ranks, GetParam().min_ranks); }
  int most(int ranks) const { return std::min(ranks, GetParam().max_ranks); }
  bool supports(int ranks) const { return least(ranks) == ranks && most(ranks) == ranks; }
  /// Those of these numbers of ranks that this kind of world can have. At least one: a test of none would pass without
  /// having looked at anything.
  std::vector<int> possible(std::initializer_list<int> numbers) const {
    std::vector<int> some;
    std::copy_if(numbers.begin(), numbers.end(), std::back_inserter(some), [this](int n) { return supports(n); });
    EXPECT_FALSE(some.empty()) << "no world of kind " << GetParam().name << " is as small or as large";
    return some;
  }
  /// Why a test of so many ranks is skipped.
  std::string lacks(int ranks) const {
    return fmt::format("needs {} ranks, and worlds of kind {} have {} to {}: the other kinds show it", ranks,
                       GetParam().name, GetParam().min_ranks, GetParam().max_ranks);
  }

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

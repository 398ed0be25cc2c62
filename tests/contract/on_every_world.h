/// \file
/// Base of the contract tests: each runs on every kind of world, which must all show the same.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "support/worlds.h"

namespace shardlings::contract {

class OnEveryWorld : public testing::TestWithParam<support::WorldKind> {
 protected:
  int least(int ranks) const { return std::max(ranks, GetParam().min_ranks); }
  int most(int ranks) const { return std::min(ranks, GetParam().max_ranks); }
  bool supports(int ranks) const { return least(ranks) == ranks && most(ranks) == ranks; }

  /// Runs on this kind of world with delays, and compares everything with threads and CPU devices.
  front::RunReport run(int ranks, const support::Body& body) const {
    return support::run_and_compare(GetParam(), support::options_for(ranks), {1, 50}, body);
  }
};

/// For INSTANTIATE_TEST_SUITE_P, beside testing::ValuesIn(support::world_kinds()).
inline std::string name_of_world(const testing::TestParamInfo<support::WorldKind>& info) {
  return info.param.name;
}

}  // namespace shardlings::contract

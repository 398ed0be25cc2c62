// What ranks have shown, told once for all that showed the same, and as JSON.
#include "grading/verdict/shown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace shardlings::grading::verdict {
namespace {

using ::testing::ElementsAre;

front::Shown show_of(const std::string& label, float value) {
  front::Shown shown;
  shown.label = label;
  shown.file = "puzzle.cpp";
  shown.line = 31;
  shown.shape = {1, 2};
  const float elements[] = {value, 1};
  look_at(elements, shown);
  return shown;
}

front::RankReport rank_with(std::vector<front::Shown> shown) {
  front::RankReport rank;
  rank.shows.kept = std::move(shown);
  return rank;
}

/// "x: 0 1" for ranks 0 and 1.
std::vector<std::string> told(const std::vector<ShownByRanks>& shown) {
  std::vector<std::string> all;
  for (const ShownByRanks& one : shown) {
    all.push_back(one.what.label + ":");
    for (const int rank : one.ranks) all.back() += " " + std::to_string(rank);
  }
  return all;
}

TEST(ShownByRanks, EqualOnesAreToldOnce) {
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const auto same = rank_with({show_of("x", nan), show_of("y", 2)});
  EXPECT_THAT(told(by_ranks({same, same, same})), ElementsAre("x: 0 1 2", "y: 0 1 2"));
}

TEST(ShownByRanks, DifferentOnesStandBesideOneAnother) {
  EXPECT_THAT(
      told(by_ranks({rank_with({show_of("x", 0), show_of("y", 2)}), rank_with({show_of("x", 1), show_of("y", 2)}),
                     rank_with({show_of("x", 0), show_of("y", 3)})})),
      ElementsAre("x: 0 2", "x: 1", "y: 0 1", "y: 2"));
}

TEST(ShownByRanks, WhatOneRankAloneShowsDoesNotPartTheOthers) {
  const auto other = rank_with({show_of("y", 2), show_of("z", 2)});
  EXPECT_THAT(told(by_ranks({rank_with({show_of("x", 0), show_of("y", 2), show_of("z", 2)}), other, other, {}})),
              ElementsAre("x: 0", "y: 0 1 2", "z: 0 1 2"));
  EXPECT_TRUE(by_ranks({}).empty());
}

TEST(ShownByRanks, AreTheSameAfterTheWayThroughJson) {
  front::Shown odd = show_of("odd", -std::numeric_limits<float>::infinity());
  odd.dtype = DType::bf16;
  odd.kind = Kind::gradient;
  odd.memory = front::Memory::host;
  odd.layer = 3;
  odd.micro = 1;
  front::Shown none;
  none.there = false;
  const auto written = by_ranks({rank_with({odd, show_of("nan", std::numeric_limits<float>::quiet_NaN()),
                                            show_of("inf", std::numeric_limits<float>::infinity()), none})});
  const auto read = shown_from_json(nlohmann::ordered_json::parse(shown_to_json(written).dump()));
  ASSERT_EQ(read.size(), written.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].what, written[i].what) << written[i].what.label;
    EXPECT_EQ(read[i].ranks, written[i].ranks);
  }
}

}  // namespace
}  // namespace shardlings::grading::verdict

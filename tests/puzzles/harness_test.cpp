// Loading of weights by the harness: whole layers, stretches, rectangles; and only what was asked for is allocated.
#include "grading/harness.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "front/world.h"
#include "grading/data.h"

namespace shardlings::grading {
namespace {

Case small_case() {
  Case kase;
  kase.puzzle = "test";
  kase.model.layers = 2;
  kase.model.hidden = 6;
  kase.model.outputs = 5;
  kase.model.sequence = 2;
  return kase;
}

front::RunReport with_harness(const std::function<void(Harness&)>& body) {
  const Case kase = small_case();
  return front::run_world({}, [&](Rank& rank) {
    Harness harness(rank, kase);
    body(harness);
  });
}

std::vector<float> published(const front::RunReport& report) {
  return report.ranks.at(0).published.at(0).values;
}

TEST(HarnessWeights, AStretchIsThatPartOfTheLayer) {
  const auto report = with_harness([](Harness& h) { h.put("part", h.weights(0, {5, 17})); });
  ASSERT_FALSE(report.failure) << report.failure->message;
  const std::vector<float> all = weights_of(small_case(), 0);
  EXPECT_EQ(published(report), std::vector<float>(all.begin() + 5, all.begin() + 17));
  EXPECT_EQ(report.ranks[0].counters.peak.value(), 12 * 4);  // never the whole layer
}

TEST(HarnessWeights, ARectangleIsCutFromTheMatrixOfThatName) {
  std::string name;
  Range range;
  const auto report = with_harness([&](Harness& h) {
    const Entry matrix = h.model().entries(1).front();
    name = matrix.name;
    range = matrix.range;
    h.put("part", h.weights(1, name, {1, 4}, {2, 5}));
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  const std::vector<float> all = weights_of(small_case(), 1);
  std::vector<float> expected;
  for (Count row = 1; row < 4; ++row) {
    for (Count col = 2; col < 5; ++col) expected.push_back(all[static_cast<std::size_t>(range.begin + row * 6 + col)]);
  }
  EXPECT_EQ(published(report), expected);
  EXPECT_EQ(report.ranks[0].counters.peak.value(), 9 * 4);
}

TEST(HarnessWeights, TheWholeLayerIsAllOfIt) {
  const auto report = with_harness([](Harness& h) { h.put("all", h.weights(1)); });
  ASSERT_FALSE(report.failure);
  EXPECT_EQ(published(report), weights_of(small_case(), 1));
}

TEST(HarnessWeights, PartsThatDoNotExistAreErrors) {
  for (const Range range : {Range{-1, 3}, Range{0, 100000}, Range{4, 2}}) {
    const auto report = with_harness([&](Harness& h) { h.weights(0, range); });
    ASSERT_TRUE(report.failure);
    EXPECT_NE(report.failure->message.find("layer 0 has"), std::string::npos) << report.failure->message;
  }
  const auto report = with_harness([](Harness& h) { h.weights(0, "no such matrix", {0, 1}, {0, 1}); });
  ASSERT_TRUE(report.failure);
  EXPECT_NE(report.failure->message.find("no such matrix"), std::string::npos);
}

}  // namespace
}  // namespace shardlings::grading

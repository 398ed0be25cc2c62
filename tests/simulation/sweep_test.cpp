// Combinations of sizes, and which of them are worth a look.
#include "simulation/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace shardlings::simulation {
namespace {

using testing::ElementsAre;

const Files kSweepFiles = {SHARDLINGS_SOURCE_FOLDER "/runtime/memory_map/models.toml",
                           SHARDLINGS_SOURCE_FOLDER "/runtime/front/clock/clusters"};

constexpr const char* kEightHeads = "layers=4,hidden=32,heads=8,vocabulary=64,sequence=8";

cases::Manifest three_axes() {
  return cases::load_manifest(SHARDLINGS_SOURCE_FOLDER "/puzzles/33_three_d_parallel", kSweepFiles.clusters);
}

TEST(Sweep, DoublesFromTheFirstToTheLast) {
  const std::vector<SweepVariable> sizes = parse_sweep("tp=1..8,bucket=100..500");
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(sizes[0].name, "tp");
  EXPECT_THAT(sizes[0].values, ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(sizes[1].values, ElementsAre(100, 200, 400));
}

TEST(Sweep, GoesInEqualStepsBetweenTwoNumbersWithAColon) {
  const auto values_of = [](const char* text) { return parse_sweep(text).at(0).values; };
  EXPECT_THAT(values_of("bucket=100:110"), ElementsAre(100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110));
  EXPECT_THAT(values_of("bucket=100:2000:600"), ElementsAre(100, 700, 1300, 1900));
  EXPECT_EQ(values_of("bucket=100:2000").size(), 21U);
  EXPECT_EQ(values_of("bucket=100:2000")[1], 195);
  EXPECT_THAT(values_of("rate=0.5:1:0.25"), ElementsAre(0.5, 0.75, 1));
  EXPECT_THAT(values_of("bucket=5:5"), ElementsAre(5));
}

TEST(Sweep, RefusesWhatIsNoRange) {
  for (const char* wrong : {"", "tp", "tp=", "tp=1", "=1..2", "tp=2..1", "tp=0..4", "tp=1..x", "tp=1..8,", "1..2=tp",
                            "tp=1:", "tp=:2", "tp=3:2", "tp=1:2:0", "tp=1:2:", "tp=1:1e9:1"}) {
    EXPECT_THROW(parse_sweep(wrong), std::runtime_error) << wrong;
  }
  EXPECT_THROW(parse_sweep("tp=1..1e6,pp=1..1e6,dp=1..1e6"), std::runtime_error) << "too many";
}

TEST(Sweep, TriesWhatIsRecomputed) {
  const std::vector<SweepVariable> sizes = parse_sweep("tp=1..2,recompute=off,full,pp=1..2");
  ASSERT_EQ(sizes.size(), 3U);
  EXPECT_THAT(sizes[1].values, ElementsAre(0, 1));
  EXPECT_EQ(sizes[1].text_of(1), "full");
  const auto points = points_of(three_axes(), {.ranks = 4, .model = kEightHeads}, sizes, kSweepFiles);
  EXPECT_EQ(points[0].kase.execution.recompute, model::Recompute::off);
  EXPECT_EQ(points[2].kase.execution.recompute, model::Recompute::full);
  EXPECT_THROW(parse_sweep("recompute=half"), std::runtime_error);
  EXPECT_THROW(parse_sweep("full"), std::runtime_error);
}

TEST(Sweep, ReplicasTakeWhatTheOtherAxesLeave) {
  const std::vector<SweepVariable> sizes = parse_sweep("tp=1..4,pp=1..2");
  const auto points = points_of(three_axes(), {.ranks = 4, .model = kEightHeads}, sizes, kSweepFiles);
  ASSERT_EQ(points.size(), 6U);
  EXPECT_THAT(points[1].values, ElementsAre(1, 2)) << "the last size changes fastest";
  EXPECT_EQ(points[1].kase.integer("d"), 2);
  EXPECT_EQ(points[4].kase.integer("t"), 4);
  EXPECT_EQ(points[4].kase.integer("d"), 1);
  EXPECT_FALSE(points[5].refusal.empty()) << "4 x 2 ranks are more than 4";
}

TEST(Sweep, KeepsTheGlobalBatch) {
  const auto points = points_of(three_axes(), {.ranks = 8, .model = kEightHeads, .batch = 1, .global_batch = 16},
                                parse_sweep("tp=1..8"), kSweepFiles);
  for (const SweepPoint& point : points) {
    EXPECT_EQ(point.kase.micro_batches * point.kase.num_batches() * point.kase.batch, 16) << point.kase.name;
  }
  const auto batches = points_of(three_axes(), {.ranks = 8, .model = kEightHeads, .global_batch = 16},
                                 parse_sweep("tp=4..8,batch=1..8"), kSweepFiles);
  ASSERT_EQ(batches.size(), 8U);
  for (const SweepPoint& point : batches) {
    EXPECT_EQ(point.refusal, "");
    EXPECT_EQ(point.kase.batch, static_cast<Count>(point.values[1])) << point.kase.name;
    EXPECT_EQ(point.kase.micro_batches * point.kase.num_batches() * point.kase.batch, 16) << point.kase.name;
  }
}

TEST(Sweep, SweepsNumbersOfTheCase) {
  const auto manifest =
      cases::load_manifest(SHARDLINGS_SOURCE_FOLDER "/puzzles/10_overlap_buckets", kSweepFiles.clusters);
  const auto points = points_of(manifest, {}, parse_sweep("bucket=100..400"), kSweepFiles);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[2].kase.number("bucket"), 400);
  EXPECT_THROW(points_of(manifest, {}, parse_sweep("no_such_number=1..2"), kSweepFiles), std::runtime_error);
}

SweepResult result_of(int end, int peak, bool fits = true) {
  SweepResult result;
  result.finished = true;
  result.end = Nanos(end);
  result.peak = Bytes(peak);
  result.fits = fits;
  return result;
}

TEST(Sweep, TheFrontierIsWhatNoOtherBeatsInBoth) {
  std::vector<SweepResult> results = {result_of(10, 50), result_of(20, 40), result_of(30, 45), result_of(5, 90, false),
                                      SweepResult()};
  EXPECT_EQ(mark_frontier(results), 0);
  EXPECT_TRUE(results[0].on_frontier);
  EXPECT_TRUE(results[1].on_frontier);
  EXPECT_FALSE(results[2].on_frontier) << "slower and larger than the second";
  EXPECT_FALSE(results[3].on_frontier) << "does not fit";
  std::vector<SweepResult> none = {result_of(1, 1, false)};
  EXPECT_EQ(mark_frontier(none), -1);
}

}  // namespace
}  // namespace shardlings::simulation

// Playing with the numbers of a case: `run --set` and `sweep`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/learner.h"

namespace shardlings::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kBuckets = "10_overlap_buckets";

TEST(Play, ACaseWithOtherNumbersIsJudgedByTheSameFormulas) {
  const Learner shardlings;
  shardlings.solve(kBuckets);
  const Answer usual = shardlings({"run", "10", "--set", "bucket=300", "--set", "latency_ns=0", "--json"});
  EXPECT_EQ(usual.status, 0) << usual.out << usual.err;
  const json verdict = json::parse(usual.out);
  ASSERT_EQ(verdict["cases"].size(), 1U) << "one case alone";
  EXPECT_THAT(verdict["cases"][0]["reproduce"], HasSubstr("--set 'bucket=300' --set 'latency_ns=0'"));
  const json slow = json::parse(shardlings({"run", "10", "--set", "latency_ns=5000000", "--json"}).out);
  EXPECT_GT(slow["cases"][0]["counters"][0]["end_ns"], verdict["cases"][0]["counters"][0]["end_ns"]);
  EXPECT_THAT(shardlings({"list", "--all"}).out, Not(HasSubstr("100/100"))) << "play counts for nothing";
}

TEST(Play, ANumberThatACaseCannotHaveIsRefused) {
  const Learner shardlings;
  const Answer unknown = shardlings({"run", "10", "--set", "bukket=300"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'bucket'?"));
  EXPECT_EQ(shardlings({"run", "10", "--set", "bucket"}).status, 2);
  EXPECT_EQ(shardlings({"run", "10", "--set", "batch=0"}).status, 2);
}

TEST(Play, ASweepPlotsTimePeakAndBytes) {
  const Learner shardlings;
  shardlings.solve(kBuckets);
  const Answer plot = shardlings({"sweep", "10", "bucket=100:1600:500"});
  EXPECT_EQ(plot.status, 0) << plot.out << plot.err;
  EXPECT_THAT(plot.out, AllOf(HasSubstr("time"), HasSubstr("peak"), HasSubstr("sent"), HasSubstr("bucket 600"),
                              HasSubstr("55.76 ms"), HasSubstr("11.95 KiB"), HasSubstr("##")));
  const json points = json::parse(shardlings({"sweep", "10", "micro_batches=1:3", "--json"}).out);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0]["sent"], points[2]["sent"]) << "micro-batches add up before anything is sent";
  EXPECT_LT(points[0]["end"], points[2]["end"]);
  const Answer nothing = shardlings({"sweep", "10"});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.err, HasSubstr("./shardlings sweep 10 bucket=100:2000"));
}

}  // namespace
}  // namespace shardlings::cli

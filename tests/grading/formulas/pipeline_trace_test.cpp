// When the slots of a pipeline can begin, and what the course of its memory says about a mistake.
#include "grading/formulas/pipeline_trace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace shardlings::grading::formulas {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kMessage = 100;

cases::Case case_of(int p, int m, int v, std::int64_t latency) {
  cases::Case kase;
  kase.ranks = p;
  kase.batches = 1;
  kase.batch = 1;
  kase.micro_batches = m;
  kase.model.layers = p * v;
  kase.model.hidden = kase.model.outputs = 4;
  kase.model.sequence = 1;
  kase.numbers["chunks"] = v;
  kase.cluster.uses_table = true;
  kase.cluster.table = {Nanos(kMs), Nanos(2 * kMs), Nanos(0), Nanos(0)};
  kase.cluster.links = {front::LinkSpeed{Nanos(latency), 1e18}, front::LinkSpeed{Nanos(latency), 1e18}};
  return kase;
}

/// When the last backward of rank 0 ends.
Nanos end_of(const cases::Case& kase, const std::function<Order(int)>& order, Mail mail) {
  const auto begins = earliest_begins(kase, pipeline_of(kase), order, mail);
  return begins.empty() ? Nanos(-1) : begins[0].back() + Nanos(2 * kMs);
}

TEST(EarliestBegins, GiveTheTimeOfTheStep) {
  const cases::Case plain = case_of(4, 8, 1, 0), chunks = case_of(4, 8, 2, 0), slow = case_of(4, 8, 1, kMs);
  const Pipeline one = pipeline_of(plain), two = pipeline_of(chunks);
  EXPECT_EQ(end_of(plain, [&](int) { return order_of(one, gpipe_warm_up(one)); }, {}), Nanos(33 * kMs));
  EXPECT_EQ(end_of(plain, [&](int rank) { return order_of(one, one_f_one_b_warm_up(one, rank)); }, {}),
            Nanos(33 * kMs));
  EXPECT_EQ(end_of(chunks, [&](int rank) { return order_of(two, one_f_one_b_warm_up(two, rank)); }, {}),
            Nanos(57 * kMs));
  const auto eager = [&](int rank) { return order_of(one, eager_warm_up(one, rank)); };
  EXPECT_EQ(end_of(slow, eager, {.receives_ahead = true}), Nanos(39 * kMs));
  EXPECT_GT(end_of(slow, eager, {}), Nanos(39 * kMs));
}

TEST(EarliestBegins, AreNoneWhereOrdersWaitForOneAnother) {
  const cases::Case kase = case_of(2, 2, 1, 0);
  const auto order = [](int rank) {
    return rank == 0 ? Order{{true, 0, 0}, {false, 0, 0}, {true, 1, 0}, {false, 1, 0}}
                     : Order{{true, 0, 0}, {true, 1, 0}, {false, 0, 0}, {false, 1, 0}};
  };
  EXPECT_TRUE(earliest_begins(kase, pipeline_of(kase), order, {}).empty());
}

TEST(LatestBegins, LeaveNoTimeOnTheLastRank) {
  const cases::Case kase = case_of(4, 8, 1, 0);
  const Pipeline pipeline = pipeline_of(kase);
  const auto order = [&](int rank) { return order_of(pipeline, one_f_one_b_warm_up(pipeline, rank)); };
  const auto begins = earliest_begins(kase, pipeline, order, {});
  const auto latest = latest_begins(kase, pipeline, order, begins, Nanos(33 * kMs));
  EXPECT_EQ(latest[3], begins[3]);
  EXPECT_EQ(latest[0][0], Nanos(0));
  EXPECT_EQ(latest[0][3], Nanos(9 * kMs));  // rank 0's own backward at 10 ms comes behind it
  EXPECT_EQ(latest[0].back(), Nanos(31 * kMs));
}

TEST(LatestBegins, AreNoEarlierThanTheEarliest) {
  for (const Nanos latency : {Nanos(0), Nanos(kMs)}) {
    const cases::Case kase = case_of(4, 8, 1, latency.value());
    const Pipeline pipeline = pipeline_of(kase);
    const auto order = [&](int rank) { return order_of(pipeline, eager_warm_up(pipeline, rank)); };
    const auto begins = earliest_begins(kase, pipeline, order, {.receives_ahead = true});
    const Nanos end = Nanos(33 * kMs) + 6 * latency;
    const auto latest = latest_begins(kase, pipeline, order, begins, end);
    for (std::size_t r = 0; r < begins.size(); ++r) {
      for (std::size_t k = 0; k < begins[r].size(); ++k) EXPECT_LE(begins[r][k], latest[r][k]) << r << ' ' << k;
    }
  }
}

/// A pipeline whose messages have kMessage bytes, 4 micro-batches, all forward first.
std::string reason(int rank, const std::vector<std::int64_t>& excess) {
  Pipeline pipeline;
  pipeline.p = 2;
  pipeline.m = 4;
  pipeline.layers.resize(2);
  for (LayerBytes& layer : pipeline.layers) layer.output = layer.input = kMessage;
  return reason_of_excess(pipeline, rank, order_of(pipeline, gpipe_warm_up(pipeline)), excess);
}

TEST(ReasonOfExcess, IsToldByItsCourse) {
  const std::int64_t s = kMessage;
  EXPECT_EQ(reason(0, {0, s, 2 * s, 3 * s, 4 * s, 4 * s, 4 * s, 4 * s}), "outputs_kept");
  EXPECT_EQ(reason(0, {0, 0, 0, 0, 0, s, 2 * s, 3 * s}), "activations_kept");
  EXPECT_EQ(reason(0, {0, 0, 0, 0, 3 * s, 2 * s, s, 0}), "room_made_early");
  EXPECT_EQ(reason(0, {3 * s, 2 * s, s, 0, 0, 0, 0, 0}), "room_made_early");
}

TEST(ReasonOfExcess, IsNoneWhereTheCourseTellsNone) {
  const std::int64_t s = kMessage;
  EXPECT_EQ(reason(0, {}), "");
  EXPECT_EQ(reason(0, {0, 0, s, s, s, s, s, s}), "");              // one message more, for good
  EXPECT_EQ(reason(0, {s, 2 * s, 3 * s, 4 * s, 0, 0, 0, 0}), "");  // something of each forward, and not its output
  EXPECT_EQ(reason(0, {-s, -s, -s, -s, -s, -s, -s, -s}), "");
}

TEST(ReasonOfExcess, KnowsTheLogitsOfTheLastStage) {
  Pipeline pipeline;
  pipeline.p = 2;
  pipeline.m = 4;
  pipeline.layers.resize(2);
  for (LayerBytes& layer : pipeline.layers) layer.output = layer.input = kMessage;
  const Order one_by_one = order_of(pipeline, 0);
  const std::int64_t s = kMessage;
  EXPECT_EQ(reason_of_excess(pipeline, 1, one_by_one, {0, s, s, 2 * s, 2 * s, 3 * s, 3 * s, 4 * s}), "logits_kept");
  EXPECT_EQ(reason_of_excess(pipeline, 1, one_by_one, {0, 0, s, s, 2 * s, 2 * s, 3 * s, 3 * s}), "activations_kept");
}

}  // namespace
}  // namespace shardlings::grading::formulas

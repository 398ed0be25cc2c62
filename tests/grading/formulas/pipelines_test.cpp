// A closed-form proof of the clock: the solutions of the puzzles on pipelines, on many shapes and costs, against the
// formulas and golden values of the literature and of simulations; and the same of the judge's own formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/random.h"
#include "grading/formulas/beside_solution.h"
#include "grading/formulas/pipeline.h"
#include "puzzles/solutions.h"
#include "world/world.h"

// Each puzzle has a train_step and a harness of its own: a namespace for each keeps them apart.
// NOLINTBEGIN(bugprone-suspicious-include, readability-duplicate-include)
namespace gpipe {
#include "../../puzzles/19_gpipe/harness.cpp"
#include "../../solutions/19_gpipe/solution.cpp"
}  // namespace gpipe
namespace one_f_one_b {
#include "../../puzzles/20_one_f_one_b/harness.cpp"
#include "../../solutions/20_one_f_one_b/solution.cpp"
}  // namespace one_f_one_b
namespace interleaved {
#include "../../puzzles/21_interleaved_1f1b/harness.cpp"
#include "../../solutions/21_interleaved_1f1b/solution.cpp"
}  // namespace interleaved
namespace eager {
#include "../../puzzles/22_latency_1f1b/harness.cpp"
#include "../../solutions/22_latency_1f1b/solution.cpp"
}  // namespace eager
// NOLINTEND(bugprone-suspicious-include, readability-duplicate-include)

namespace shardlings::grading {
namespace {

constexpr Count kHidden = 3;

/// A pipeline and what its parts cost; F and B are those of a chunk, which is one layer.
struct Setting {
  int p = 1, m = 1, v = 1;
  std::int64_t forward = 1'000'000, backward = 2'000'000, latency = 0;

  std::string text() const {
    return "p " + std::to_string(p) + " m " + std::to_string(m) + " v " + std::to_string(v) + " F " +
           std::to_string(forward) + " B " + std::to_string(backward) + " alpha " + std::to_string(latency);
  }
};

cases::Case case_of(const Setting& setting) {
  cases::Case kase;
  kase.ranks = setting.p;
  kase.batches = 1;
  kase.batch = 1;
  kase.micro_batches = setting.m;
  kase.model.layers = setting.p * setting.v;
  kase.model.hidden = kase.model.outputs = kHidden;
  kase.model.sequence = 1;
  kase.numbers["chunks"] = setting.v;
  kase.cluster.uses_table = true;
  kase.cluster.table = {Nanos(setting.forward), Nanos(setting.backward), Nanos(0), Nanos(0)};
  kase.cluster.links = {front::LinkSpeed{Nanos(setting.latency), 1e18}, front::LinkSpeed{Nanos(setting.latency), 1e18}};
  return kase;
}

using HarnessEntry = void (*)(submission::Harness&);

front::RunReport run(const Setting& setting, HarnessEntry entry) {
  const cases::Case kase = case_of(setting);
  world::Options options;
  options.ranks = kase.ranks;
  options.cluster = kase.cluster;
  front::RunReport report = world::run(options, [&](Rank& rank) {
    submission::Harness harness(rank, kase);
    entry(harness);
  });
  if (report.failure) ADD_FAILURE() << setting.text() << ": " << report.failure->message;
  return report;
}

std::int64_t end_of(const front::RunReport& report) {
  std::int64_t end = 0;
  for (const front::RankReport& rank : report.ranks) end = std::max(end, rank.counters.end.value());
  return end;
}

double milliseconds(const Setting& setting, HarnessEntry entry) {
  return static_cast<double>(end_of(run(setting, entry))) / 1e6;
}

std::vector<int> in_flight(const Setting& setting, HarnessEntry entry) {
  std::vector<int> numbers;
  for (const front::RankReport& rank : run(setting, entry).ranks) {
    numbers.push_back(static_cast<int>(rank.counters.saved_peak));
  }
  return numbers;
}

/// (m v + p - 1)(F + B) + 2 (p v - 1) alpha
std::int64_t closed_form(const Setting& s) {
  return std::int64_t{s.m * s.v + s.p - 1} * (s.forward + s.backward) + 2 * s.latency * (s.p * s.v - 1);
}

/// A run of a solution takes the closed form, sends what crosses its boundaries, and has `most(r)` in flight on rank r.
void expect_formulas(const Setting& setting, HarnessEntry entry, auto most) {
  SCOPED_TRACE(setting.text());
  const front::RunReport report = run(setting, entry);
  EXPECT_EQ(end_of(report), closed_form(setting));
  const cases::Case kase = case_of(setting);
  const formulas::Pipeline pipeline = formulas::pipeline_of(kase);
  EXPECT_EQ(formulas::step_time(kase, pipeline).value().value(), closed_form(setting));
  for (int rank = 0; rank < setting.p; ++rank) {
    const front::Counters& counters = report.ranks.at(static_cast<std::size_t>(rank)).counters;
    const int boundaries = 2 * setting.v - (rank == 0 ? 1 : 0) - (rank == setting.p - 1 ? 1 : 0);
    EXPECT_EQ(counters.saved_peak, most(rank)) << "rank " << rank;
    EXPECT_EQ(counters.bytes_sent().value(), setting.m * boundaries * 4 * kHidden) << "rank " << rank;
    EXPECT_EQ(formulas::message_bytes(pipeline, rank).value().value(), setting.m * boundaries * 4 * kHidden)
        << "rank " << rank;
  }
}

/// Shapes and costs from a seed.
class RandomPipelines : public testing::TestWithParam<int> {
 protected:
  int between(int first, int last) {
    const auto width = static_cast<std::uint32_t>(last - first + 1);
    return first + static_cast<int>(below_at(width, static_cast<std::uint64_t>(GetParam()), next_++));
  }
  Setting random_setting() {
    Setting setting;
    setting.p = between(1, 7);
    setting.m = between(1, 11);
    setting.forward = between(1, 5000);
    setting.backward = between(1, 5000);
    return setting;
  }

 private:
  std::uint64_t next_ = 0;
};

TEST_P(RandomPipelines, GPipe) {
  const Setting setting = random_setting();
  expect_formulas(setting, gpipe::shardlings_harness, [&](int) { return setting.m; });
}

TEST_P(RandomPipelines, OneForwardOneBackward) {
  const Setting setting = random_setting();
  expect_formulas(setting, one_f_one_b::shardlings_harness, [&](int r) { return std::min(setting.p - r, setting.m); });
}

TEST_P(RandomPipelines, Interleaved) {
  Setting setting = random_setting();
  setting.p = between(2, 5);
  setting.v = between(2, 4);
  setting.m = setting.p * between(1, 3);
  expect_formulas(setting, interleaved::shardlings_harness, [&](int r) {
    return std::min(2 * (setting.p - r - 1) + (setting.v - 1) * setting.p + 1, setting.m * setting.v);
  });
}

TEST_P(RandomPipelines, EagerHidesAnyLatencyUpToHalfATurn) {
  Setting setting = random_setting();
  setting.latency = between(0, static_cast<int>((setting.forward + setting.backward) / 2));
  expect_formulas(setting, eager::shardlings_harness,
                  [&](int r) { return std::min(2 * (setting.p - r) - 1, setting.m); });
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPipelines, testing::Range(1, 26));

using Flight = std::vector<int>;

TEST(GoldenPipelines, TakeTheTimesOfTheTextbook) {
  EXPECT_EQ(milliseconds({2, 4}, gpipe::shardlings_harness), 15);
  EXPECT_EQ(milliseconds({4, 8}, gpipe::shardlings_harness), 33);
  EXPECT_EQ(milliseconds({2, 4}, one_f_one_b::shardlings_harness), 15);
  EXPECT_EQ(milliseconds({4, 8}, one_f_one_b::shardlings_harness), 33);
  EXPECT_EQ(milliseconds({2, 4, 2, 500'000, 1'000'000}, interleaved::shardlings_harness), 13.5);
  EXPECT_EQ(milliseconds({4, 8, 2, 500'000, 1'000'000}, interleaved::shardlings_harness), 28.5);
}

TEST(GoldenPipelines, HaveInFlightWhatTheTextbookSays) {
  EXPECT_EQ(in_flight({4, 8}, gpipe::shardlings_harness), (Flight{8, 8, 8, 8}));
  EXPECT_EQ(in_flight({4, 8}, one_f_one_b::shardlings_harness), (Flight{4, 3, 2, 1}));
  EXPECT_EQ(in_flight({2, 4, 2}, interleaved::shardlings_harness), (Flight{5, 3}));
  EXPECT_EQ(in_flight({4, 8, 2}, interleaved::shardlings_harness), (Flight{11, 9, 7, 5}));
  EXPECT_EQ(in_flight({4, 8}, eager::shardlings_harness), (Flight{7, 5, 3, 1}));
}

/// When the last rank of a run in processes of its own is done.
double milliseconds(const Setting& setting, const Solution& solution) {
  const wire::Result result = solution.run(case_of(setting));
  EXPECT_EQ(result.ending, wire::Ending::finished) << setting.text() << ": " << result.explanation;
  return static_cast<double>(end_of(result.report)) / 1e6;
}

// Simulated: 1F1B pays a latency of 0.25 ms with every micro-batch, even with receives posted ahead; eager 1F1B once.
TEST(GoldenPipelines, PayForTheLatency) {
  Setting few{4, 8}, many{4, 32};
  few.latency = many.latency = 250'000;
  EXPECT_EQ(milliseconds(few, one_f_one_b::shardlings_harness), 37.75);
  EXPECT_EQ(milliseconds(many, one_f_one_b::shardlings_harness), 121.75);
  const Solution receives_ahead(build::load_toolchain(SHARDLINGS_BUILD_FOLDER), "22_latency_1f1b", "warm_up_of_1f1b");
  EXPECT_EQ(milliseconds(few, receives_ahead), 37.0);
  EXPECT_EQ(milliseconds(many, receives_ahead), 118.0);
  EXPECT_EQ(milliseconds(few, eager::shardlings_harness), 34.5);
  EXPECT_EQ(milliseconds(many, eager::shardlings_harness), 106.5);
  Setting chunks{4, 8, 2, 500'000, 1'000'000, 250'000};  // 32.0 with receives posted ahead
  EXPECT_EQ(milliseconds(chunks, interleaved::shardlings_harness), 36.25);
}

TEST(Orders, RunEmptyIfEverythingIsBackBeforeTheEnd) {
  const formulas::Pipeline pipeline = formulas::pipeline_of(case_of({4, 8}));
  EXPECT_FALSE(formulas::runs_empty(formulas::order_of(pipeline, 3)));
  EXPECT_TRUE(formulas::runs_empty(formulas::order_of(pipeline, 0))) << "one at a time";
  EXPECT_FALSE(formulas::runs_empty(formulas::order_of(pipeline, formulas::gpipe_warm_up(pipeline))));
}

TEST(Orders, GoForwardAndBackwardOnceWithEverything) {
  for (const Setting& setting : {Setting{4, 8}, Setting{5, 2}, Setting{3, 6, 3}, Setting{4, 6, 2}, Setting{1, 3}}) {
    const formulas::Pipeline pipeline = formulas::pipeline_of(case_of(setting));
    for (int warm_up = 0; warm_up < setting.m * setting.v + 2; ++warm_up) {
      const formulas::Order order = formulas::order_of(pipeline, warm_up);
      EXPECT_EQ(order.size(), static_cast<std::size_t>(2 * setting.m * setting.v)) << setting.text();
      EXPECT_EQ(formulas::leading_forwards(order), std::min(warm_up + 1, setting.m * setting.v)) << setting.text();
      EXPECT_EQ(formulas::most_in_flight(order), formulas::leading_forwards(order)) << setting.text();
      for (const formulas::Slot& slot : order)
        EXPECT_EQ(std::count(order.begin(), order.end(), slot), 1) << setting.text();
    }
  }
}

}  // namespace
}  // namespace shardlings::grading

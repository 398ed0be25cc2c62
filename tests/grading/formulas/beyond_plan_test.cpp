#include "grading/formulas/beyond_plan.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace shardlings::grading {
namespace {

using front::Event;
using front::EventKind;

class BeyondPlan : public testing::Test {
 protected:
  BeyondPlan() {
    kase_.ranks = 2;
    result_.report.ranks.resize(2);
  }
  void call(int line) {
    Event event;
    event.kind = EventKind::forward;
    event.at = {"/somewhere/puzzle.cpp", line};
    result_.report.ranks[0].trace.events.push_back(event);
  }
  judge::CheckContext check() {
    return {kase_, result_, []() -> const reference::Reference& { throw std::logic_error("no reference"); }, verdict_};
  }
  int line_after(std::int64_t planned) { return formulas::place_beyond(check(), 0, EventKind::forward, planned).line; }

  cases::Case kase_;
  wire::Result result_;
  verdict::CheckVerdict verdict_;
};

TEST_F(BeyondPlan, TheFirstCallTooManyHasTheLine) {
  for (const int line : {10, 10, 12, 13}) call(line);
  EXPECT_EQ(line_after(2), 12);
  EXPECT_EQ(line_after(4), 13) << "not too many: the last one";
  EXPECT_EQ(line_after(9), 13);
}

TEST_F(BeyondPlan, WithoutCallsThereIsNoLine) {
  EXPECT_EQ(line_after(0), 0);
}

TEST_F(BeyondPlan, CollectivesOfALearnerFail) {
  front::RankTrace& trace = result_.report.ranks[1].trace;
  trace.names = {"barrier", "split", "all_reduce"};
  trace.groups = {"world", "sizes"};
  const auto passes_with = [&](int group, std::uint16_t name, int line) {
    Event event;
    event.kind = EventKind::collective;
    event.group = group;
    event.name = name;
    event.at = {"/somewhere/puzzle.cpp", line};
    trace.events.push_back(event);
    auto context = check();
    return formulas::messages_only(context, "sizes");
  };
  EXPECT_TRUE(passes_with(1, 1, 10)) << "of the harness";
  EXPECT_TRUE(passes_with(0, 0, 11)) << "barriers have a check of their own";
  EXPECT_FALSE(passes_with(0, 2, 12));
  EXPECT_EQ(verdict_.diagnosis, "built_in_collective");
  EXPECT_EQ(verdict_.where.line, 12);
}

TEST_F(BeyondPlan, HostMemoryOfAnyRankFails) {
  auto first = check();
  EXPECT_TRUE(formulas::nothing_on_host(first));
  result_.report.ranks[1].counters.host.peak = Bytes(64);
  result_.report.ranks[1].counters.host.peak_file = "puzzle.cpp";
  result_.report.ranks[1].counters.host.peak_line = 17;
  auto second = check();
  EXPECT_FALSE(formulas::nothing_on_host(second));
  EXPECT_EQ(verdict_.diagnosis, "parked_on_host");
  EXPECT_EQ(verdict_.where.line, 17);
}

}  // namespace
}  // namespace shardlings::grading

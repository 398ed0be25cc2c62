#include "grading/verdict/run_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace shardlings::grading {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

front::Event event(front::EventKind kind, std::uint16_t name, int peer, std::int64_t begin) {
  front::Event event;
  event.kind = kind;
  event.name = name;
  event.group = peer < 0 ? -1 : 0;
  event.peer = peer;
  event.label = {1, 2};
  event.at = {"/some/where/puzzle.cpp", 31};
  event.order = 4;
  event.begin = event.posted = Nanos(begin);
  event.end = Nanos(begin + 5);
  event.bytes = Bytes(6);
  event.flops = Flops(7);
  event.live_after = Bytes(8);
  return event;
}

/// A rank of a ring: an operation inside of a call of the model, the call, and a message to the next rank.
front::RankTrace trace(int rank, int ranks) {
  front::RankTrace trace;
  trace.names = {"matmul", "forward", "send"};
  trace.groups = {"world"};
  trace.members = {{}};
  for (int member = 0; member < ranks; ++member) trace.members[0].push_back(member);
  trace.events = {event(front::EventKind::operation, 0, -1, 0), event(front::EventKind::forward, 1, -1, 0),
                  event(front::EventKind::send, 2, (rank + 1) % ranks, 5)};
  trace.events[0].depth = 1;
  trace.memory.resize(4);
  for (std::size_t i = 0; i < 4; ++i) trace.memory[i].live[2] = Bytes(i == 1 ? 100 : 10);
  trace.memory[3].time = Nanos(9);
  return trace;
}

verdict::Verdict ring(int ranks) {
  verdict::Verdict run;
  run.puzzle = "06_ring";
  run.status = verdict::Status::graded;
  run.passed = true;
  run.version = "0.1.0";
  run.seconds = 1.5;
  verdict::CaseVerdict kase;
  kase.kase.name = "ring";
  kase.kase.ranks = ranks;
  kase.ending = wire::Ending::finished;
  kase.seconds = 0.25;
  kase.stdout_text = "hello";
  verdict::CheckVerdict memory;
  memory.id = "memory";
  memory.case_name = "ring";
  memory.passed = true;
  memory.distance = 0.5;
  memory.bounds = {
      {verdict::Bound::Of::peak, -1, "peak", verdict::Bound::Relation::at_most, 10, 9, "bytes", "2 x 5", true}};
  kase.checks = {memory};
  for (int rank = 0; rank < ranks; ++rank) {
    kase.counters.push_back({});
    kase.counters.back().peak_file = "puzzle.cpp";
    kase.counters.back().peak_line = 31;
    kase.traces.push_back(trace(rank, ranks));
  }
  run.cases = {kase};
  return run;
}

TEST(RunFile, ReadsWhatItWrote) {
  const verdict::Verdict run = ring(3);
  const std::string text = verdict::run_to_text(run);
  const verdict::Verdict back = verdict::run_from_text(text);
  EXPECT_EQ(verdict::run_to_text(back), text);
  EXPECT_EQ(to_json(back), to_json(run));
  ASSERT_EQ(back.cases[0].traces.size(), 3U);
  const front::Event& sent = back.cases[0].traces[2].events[2];
  EXPECT_EQ(sent.peer, 0);
  EXPECT_EQ(sent.group, 0);
  EXPECT_EQ(back.cases[0].traces[2].members, (std::vector<std::vector<int>>{{0, 1, 2}}));
  EXPECT_STREQ(sent.at.file, "puzzle.cpp");
  EXPECT_EQ(sent.at.line, 31);
  EXPECT_EQ(sent.order, 4U);
  EXPECT_EQ(sent.end, Nanos(10));
  EXPECT_EQ(sent.label.layer, 2);
  EXPECT_EQ(sent.flops, Flops(7));
  EXPECT_EQ(back.cases[0].traces[1].memory[1].live[2], Bytes(100));
}

TEST(RunFile, KeepsMeasuredTimesWhereThereAreSome) {
  verdict::Verdict run = ring(2);
  EXPECT_EQ(verdict::run_to_text(run).find("measured"), std::string::npos);
  front::Event& event = run.cases[0].traces[1].events[2];
  event.measured_begin = Nanos(70);
  event.measured_end = Nanos(95);
  const verdict::Verdict back = verdict::run_from_text(verdict::run_to_text(run));
  EXPECT_EQ(back.cases[0].traces[1].events[2].measured_begin, Nanos(70));
  EXPECT_EQ(back.cases[0].traces[1].events[2].measured_end, Nanos(95));
  EXPECT_EQ(back.cases[0].traces[1].events[1].measured_begin, Nanos(-1));
  EXPECT_EQ(back.cases[0].traces[0].events[2].measured_begin, Nanos(-1));
}

TEST(RunFile, WritesRanksThatDoTheSameOnce) {
  verdict::Verdict run = ring(4);
  EXPECT_EQ(ordered_json::parse(verdict::run_to_text(run))["cases"][0]["ranks"].size(), 1U);
  run.cases[0].counters[2].peak = Bytes(1);
  const auto ranks = ordered_json::parse(verdict::run_to_text(run))["cases"][0]["ranks"];
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[0]["ranks"], (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(verdict::run_to_text(verdict::run_from_text(verdict::run_to_text(run))), verdict::run_to_text(run));
}

TEST(RunFile, KeepsCountersWithoutTraces) {
  verdict::Verdict run = ring(2);
  run.cases[0].traces.clear();
  const verdict::Verdict back = verdict::run_from_text(verdict::run_to_text(run));
  EXPECT_EQ(back.cases[0].counters.size(), 2U);
  EXPECT_TRUE(back.cases[0].traces.empty());
}

TEST(RunFile, RefusesWhatIsNone) {
  EXPECT_THROW(verdict::run_from_text(""), std::runtime_error);
  EXPECT_THROW(verdict::run_from_text("{}"), std::runtime_error);
  EXPECT_THROW(verdict::run_from_text(to_json(ring(1))), std::runtime_error) << "a verdict is no run";
  const auto damaged = [](auto damage) {
    auto json = ordered_json::parse(verdict::run_to_text(ring(2)));
    damage(json["cases"][0]["ranks"][0]);
    return json.dump();
  };
  EXPECT_THROW(verdict::run_from_text(damaged([](auto& rank) { rank["ranks"][1] = 5; })), std::runtime_error);
  for (const char* column : {"kind", "lane", "name", "group", "file", "depth"}) {
    EXPECT_THROW(verdict::run_from_text(damaged([&](auto& rank) { rank["trace"]["events"][column] = "300*3"; })),
                 std::runtime_error)
        << column;
  }
  EXPECT_THROW(
      verdict::run_from_text(damaged([](auto& rank) { rank["trace"]["events"]["count"] = 1'000'000'000'000; })),
      std::runtime_error);
  EXPECT_THROW(verdict::run_from_text(damaged([](auto& rank) { rank["trace"]["memory"].erase("time"); })),
               std::runtime_error);
}

TEST(Goal, IsTheRunWithoutItsSource) {
  const verdict::Verdict goal = verdict::goal_of(ring(2));
  const front::RankTrace& trace = goal.cases[0].traces[1];
  ASSERT_EQ(trace.events.size(), 2U) << "calls of the model as wholes";
  EXPECT_EQ(trace.names, (std::vector<std::string>{"forward", "send"}));
  EXPECT_EQ(trace.names[trace.events[1].name], "send");
  EXPECT_EQ(trace.events[1].at.line, 0);
  EXPECT_EQ(goal.cases[0].counters[0].peak_line, 0);
  EXPECT_TRUE(trace.members.empty());
  EXPECT_EQ(goal.cases[0].checks[0].bounds[0].formula, "2 x 5");
  const std::string text = verdict::run_to_text(goal);
  EXPECT_EQ(verdict::run_to_text(verdict::run_from_text(text)), text);
  EXPECT_THAT(text, Not(HasSubstr("puzzle.cpp")));
  EXPECT_THAT(text, Not(HasSubstr("hello")));
  verdict::Verdict slower = ring(2);
  slower.seconds = slower.cases[0].seconds = 99;
  slower.version = "9.9.9";
  EXPECT_EQ(verdict::run_to_text(verdict::goal_of(slower)), text)
      << "what differs from machine to machine is not in it";
}

TEST(Goal, KeepsTheHighestAndTheLastMemoryOfAnInstant) {
  const auto memory = verdict::goal_of(ring(1)).cases[0].traces[0].memory;
  ASSERT_EQ(memory.size(), 3U);
  EXPECT_EQ(memory[0].live[2], Bytes(100));
  EXPECT_EQ(memory[1].live[2], Bytes(10));
  EXPECT_EQ(memory[2].time, Nanos(9));
}

}  // namespace
}  // namespace shardlings::grading

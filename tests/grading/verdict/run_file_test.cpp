#include "grading/verdict/run_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "base/file.h"
#include "grading/verdict/goal.h"

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
  std::vector<int> members(static_cast<std::size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  trace.members = {std::make_shared<const std::vector<int>>(std::move(members))};
  trace.events = {event(front::EventKind::operation, 0, -1, 0), event(front::EventKind::forward, 1, -1, 0),
                  event(front::EventKind::send, 2, (rank + 1) % ranks, 5)};
  trace.events[0].depth = 1;
  trace.memory.resize(4);
  for (std::size_t i = 0; i < 4; ++i) trace.memory[i].live[2] = Bytes(i == 1 ? 100 : 10);
  trace.memory[3].time = Nanos(9);
  return trace;
}

std::ptrdiff_t lines(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

verdict::Verdict from_text(const std::string& text) {
  return verdict::run_from_text(text, SHARDLINGS_CLUSTERS);
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
  memory.bounds = {{verdict::Bound::Of::peak, -1, "peak", verdict::Bound::Relation::at_most, 10, 9,
                    verdict::Unit::bytes, "", "2 x 5", true}};
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
  const verdict::Verdict back = from_text(text);
  EXPECT_EQ(verdict::run_to_text(back), text);
  EXPECT_EQ(to_json(back), to_json(run));
  ASSERT_EQ(back.cases[0].traces.size(), 3U);
  const front::Event& sent = back.cases[0].traces[2].events[2];
  EXPECT_EQ(sent.peer, 0);
  EXPECT_EQ(sent.group, 0);
  EXPECT_EQ(members_of(back.cases[0].traces[2], 0), (std::vector<int>{0, 1, 2}));
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
  const verdict::Verdict back = from_text(verdict::run_to_text(run));
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
  EXPECT_EQ(verdict::run_to_text(from_text(verdict::run_to_text(run))), verdict::run_to_text(run));
}

TEST(RunFile, KeepsCountersWithoutTraces) {
  verdict::Verdict run = ring(2);
  run.cases[0].traces.clear();
  const verdict::Verdict back = from_text(verdict::run_to_text(run));
  EXPECT_EQ(back.cases[0].counters.size(), 2U);
  EXPECT_TRUE(back.cases[0].traces.empty());
}

TEST(RunFile, RefusesWhatIsNone) {
  EXPECT_THROW(from_text(""), std::runtime_error);
  EXPECT_THROW(from_text("{}"), std::runtime_error);
  EXPECT_THROW(from_text(to_json(ring(1))), std::runtime_error) << "a verdict is no run";
  const auto damaged = [](auto damage) {
    auto json = ordered_json::parse(verdict::run_to_text(ring(2)));
    damage(json["cases"][0]["ranks"][0]);
    return json.dump();
  };
  EXPECT_THROW(from_text(damaged([](auto& rank) { rank["ranks"][1] = 5; })), std::runtime_error);
  for (const char* column : {"kind", "lane", "name", "group", "file", "depth"}) {
    EXPECT_THROW(from_text(damaged([&](auto& rank) { rank["trace"]["events"][column] = "300*3"; })), std::runtime_error)
        << column;
  }
  EXPECT_THROW(from_text(damaged([](auto& rank) { rank["trace"]["events"]["count"] = 1'000'000'000'000; })),
               std::runtime_error);
  EXPECT_THROW(from_text(damaged([](auto& rank) { rank["trace"]["memory"].erase("time"); })), std::runtime_error);
}

TEST(RunFile, LeavesOutWhatIsAsUsual) {
  const std::string text = verdict::run_to_text(ring(3));
  EXPECT_THAT(text, HasSubstr("\n{\"of\": \"peak\", \"what\": \"peak\", \"bound\": 10, \"found\": 9, "
                              "\"formula\": \"2 x 5\"}"))
      << "a bound is a line";
  EXPECT_THAT(text, HasSubstr("\n\"counters\": {\"peak_file\": \"puzzle.cpp\", \"peak_line\": 31},\n"));
  EXPECT_THAT(text, HasSubstr("\n\"begin\": \"0*2 5\",\n")) << "a column is a line";
  EXPECT_THAT(text, HasSubstr("\"line\": 31, ")) << "one number for all of them is no column";
  for (const char* usual : {"passed", "held", "blocked_by", "lane", "inter_node\": 0"}) {
    EXPECT_THAT(text, Not(HasSubstr(usual)));
  }
}

TEST(RunFile, SaysWhatIsNotAsUsual) {
  verdict::Verdict run = ring(2);
  run.status = verdict::Status::no_check_ran;
  run.passed = false;
  run.backend = "cuda";
  verdict::CaseVerdict& kase = run.cases[0];
  kase.ending = wire::Ending::failed;
  kase.failure = front::FailureKind::deadlock;
  kase.checks[0].passed = std::nullopt;
  kase.checks[0].bounds[0].held = false;
  kase.kase.numbers = {{"every", 2}};
  kase.counters[1].traffic[{back::Collective::barrier, "dp", front::Link::inter_node}] = {2, Bytes(10), Bytes(11)};
  kase.counters[1].host.peak = Bytes(3);
  kase.traces[0].events.clear();
  kase.traces[1].host_memory = kase.traces[1].memory;
  const verdict::Verdict back = from_text(verdict::run_to_text(run));
  EXPECT_EQ(to_json(back), to_json(run));
  EXPECT_TRUE(back.cases[0].traces[0].events.empty());
  EXPECT_EQ(back.cases[0].traces[1].host_memory.size(), 4U);
}

TEST(RunFile, ReadsTheFirstFormatInWhichAllIsWrittenOut) {
  const std::string first = read_whole_file(SHARDLINGS_RUN_FILES "/format_1.json");
  const verdict::Verdict run = from_text(first);
  EXPECT_EQ(run.puzzle, "02_gradient_accumulation");
  EXPECT_TRUE(run.passed);
  const auto json = ordered_json::parse(first)["cases"][0];
  const verdict::CaseVerdict& kase = run.cases.at(0);
  auto written = json["case"];
  written["empty_batch"] = false;  // a key that came later
  EXPECT_EQ(nlohmann::json::parse(to_json(kase.kase)), nlohmann::json(written));
  ASSERT_EQ(kase.checks.size(), json["checks"].size());
  EXPECT_EQ(kase.checks[0].bounds.at(0).formula, json["checks"][0]["bounds"][0]["formula"]);
  EXPECT_EQ(kase.counters.at(0).peak.value(), json["ranks"][0]["counters"]["peak_bytes"]);
  EXPECT_EQ(kase.traces.at(0).events.size(), json["ranks"][0]["trace"]["events"]["count"]);
  const verdict::Verdict again = from_text(verdict::run_to_text(run));
  EXPECT_EQ(to_json(again), to_json(run));
  EXPECT_EQ(verdict::run_to_text(again), verdict::run_to_text(run));
  EXPECT_LT(10 * lines(verdict::goal_to_text(run, SHARDLINGS_CLUSTERS)), 3 * lines(first));
}

TEST(RunFile, StandsAloneWhereClustersAreOthers) {
  verdict::Verdict run = ring(1);
  run.cases[0].kase.cluster = front::load_cluster(SHARDLINGS_CLUSTERS, "dgx_h100");
  EXPECT_EQ(to_json(verdict::run_from_text(verdict::run_to_text(run), "/nowhere")), to_json(run));
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
  const std::string text = verdict::goal_to_text(goal, SHARDLINGS_CLUSTERS);
  EXPECT_EQ(verdict::goal_to_text(from_text(text), SHARDLINGS_CLUSTERS), text);
  EXPECT_THAT(text, Not(HasSubstr("puzzle.cpp")));
  EXPECT_THAT(text, Not(HasSubstr("hello")));
  verdict::Verdict slower = ring(2);
  slower.seconds = slower.cases[0].seconds = 99;
  slower.version = "9.9.9";
  EXPECT_EQ(verdict::goal_to_text(verdict::goal_of(slower), SHARDLINGS_CLUSTERS), text)
      << "what differs from machine to machine is not in it";
}

TEST(Goal, KeepsTheHighestAndTheLastMemoryOfAnInstant) {
  const auto memory = verdict::goal_of(ring(1)).cases[0].traces[0].memory;
  ASSERT_EQ(memory.size(), 3U);
  EXPECT_EQ(memory[0].live[2], Bytes(100));
  EXPECT_EQ(memory[1].live[2], Bytes(10));
  EXPECT_EQ(memory[2].time, Nanos(9));
}

TEST(Goal, NamesItsClusterAndSaysWhatDiffers) {
  const auto cluster_in_file = [](const front::Cluster& cluster) {
    verdict::Verdict goal = verdict::goal_of(ring(1));
    goal.cases[0].kase.cluster = cluster;
    const std::string text = verdict::goal_to_text(goal, SHARDLINGS_CLUSTERS);
    EXPECT_EQ(to_json(from_text(text)), to_json(goal));
    return ordered_json::parse(text)["cases"][0]["case"]["cluster"];
  };
  front::Cluster cluster = front::load_cluster(SHARDLINGS_CLUSTERS, "steps");
  EXPECT_EQ(cluster_in_file(cluster), ordered_json::parse(R"({"like": "steps"})"));
  cluster.links[1].latency = Nanos(7);
  EXPECT_EQ(cluster_in_file(cluster), ordered_json::parse(R"({"like": "steps", "inter_node": {"latency_ns": 7}})"));
  cluster.collective.reset();
  EXPECT_FALSE(cluster_in_file(cluster).contains("like")) << "it says less than the one of its name";
  cluster.name = "unknown";
  EXPECT_FALSE(cluster_in_file(cluster).contains("like"));
}

}  // namespace
}  // namespace shardlings::grading

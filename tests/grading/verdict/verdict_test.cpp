#include "grading/verdict/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace shardlings::grading {
namespace {

verdict::Verdict sample_verdict() {
  verdict::Verdict verdict;
  verdict.puzzle = "09_data_parallel";
  verdict.status = verdict::Status::graded;
  verdict.points = 40;
  verdict.max_points = 100;
  verdict.version = "0.1.0";
  verdict.build_log = "warning: \xFF is no UTF-8";
  verdict.diagnoses = {"not_averaged"};
  verdict.checks = {{{"output", cases::CheckKind::output, "Right numbers", 40, {}}, true, 40, ""},
                    {{"time", cases::CheckKind::time, "In time", 60, {"output"}}, std::nullopt, 0, "output"}};
  verdict::CaseVerdict kase;
  kase.kase.name = "4 ranks";
  kase.kase.ranks = 1;
  kase.ending = wire::Ending::finished;
  kase.stdout_text = "hello";
  kase.reproduce = "./shardlings run 09";
  kase.checks = {
      {"output", "4 ranks", false, "1", "2", {"twice"}, {"puzzle.cpp", 31}, "not_averaged", "Averaged!", "", 0, {}}};
  kase.checks[0].bounds = {{verdict::Bound::Of::peak, 1, "peak memory", verdict::Bound::Relation::at_most, 9, 10,
                            verdict::Unit::bytes, "", "3 x 3", false},
                           {verdict::Bound::Of::other, -1, "calls", verdict::Bound::Relation::exactly, 2, 2,
                            verdict::Unit::count, "calls", "", true}};
  front::Counters counters;
  counters.peak = Bytes(4096);
  counters.peak_by_kind[1] = Bytes(7);
  counters.peak_file = "puzzle.cpp";
  counters.busy[2] = Nanos(5);
  counters.busy[5] = Nanos(6);
  counters.host.peak = Bytes(512);
  counters.host.peak_by_kind[2] = Bytes(512);
  counters.copies[1] = {3, Bytes(64)};
  counters.waited_for_host = Nanos(8);
  counters.traffic[{back::Collective::all_gather, "dp", front::Link::inter_node}] = {2, Bytes(10), Bytes(11)};
  kase.counters = {counters};
  front::RankTrace trace;
  trace.names = {"matmul"};
  trace.groups = {"world", "pair"};
  trace.members = {std::make_shared<const std::vector<int>>(std::vector{0, 1, 2}),
                   std::make_shared<const std::vector<int>>(std::vector{2, 0})};
  front::Event event;
  event.group = 0;
  event.at = {"/some/where/puzzle.cpp", 31};
  event.end = Nanos(9);
  event.label = {2, 3};
  trace.events = {event, event};
  trace.memory = {{Nanos(1), {}}, {Nanos(2), {}}};
  trace.memory[1].live[3] = Bytes(64);
  trace.host_memory = trace.memory;
  kase.traces = {trace};
  verdict.cases = {kase};
  return verdict;
}

TEST(VerdictJson, ReadsWhatItWrote) {
  const std::string text = to_json(sample_verdict());
  const verdict::Verdict back = verdict::verdict_from_json(text);
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.checks[1].passed, std::nullopt);
  EXPECT_EQ(back.cases[0].checks[0].passed, false);
  EXPECT_EQ(back.cases[0].checks[0].case_name, "4 ranks");
  EXPECT_EQ(back.cases[0].counters, sample_verdict().cases[0].counters);
  ASSERT_EQ(back.cases[0].checks[0].bounds.size(), 2U);
  EXPECT_EQ(back.cases[0].checks[0].bounds[0].of, verdict::Bound::Of::peak);
  EXPECT_EQ(back.cases[0].checks[0].bounds[0].bound, 9);
}

TEST(VerdictJson, NullIsNull) {
  EXPECT_THAT(to_json(sample_verdict(), -1), testing::HasSubstr("\"passed\":null"));
}

TEST(VerdictJson, RefusesWhatIsNone) {
  EXPECT_THROW(verdict::verdict_from_json("{"), std::runtime_error);
  EXPECT_THROW(verdict::verdict_from_json("{\"puzzle\": 3}"), std::runtime_error);
}

TEST(Amounts, SayOneInTheSingular) {
  const auto text = [](std::int64_t amount, const char* counted) {
    return verdict::amount_text(amount, verdict::Unit::count, counted);
  };
  EXPECT_EQ(text(1, "calls"), "1 call");
  EXPECT_EQ(text(1, "micro-batches"), "1 micro-batch");
  EXPECT_EQ(text(1, "messages"), "1 message");
  EXPECT_EQ(text(2, "micro-batches"), "2 micro-batches");
}

TEST(Traces, ReadWhatWasWritten) {
  const std::string path = testing::TempDir() + "traces" + std::to_string(getpid());
  verdict::write_traces(sample_verdict(), path);
  verdict::Verdict back = verdict::verdict_from_json(to_json(sample_verdict()));
  verdict::read_traces(back, path);
  ASSERT_EQ(back.cases[0].traces.size(), 1U);
  const front::RankTrace& trace = back.cases[0].traces[0];
  ASSERT_EQ(trace.events.size(), 2U);
  EXPECT_STREQ(trace.events[1].at.file, "puzzle.cpp") << "folders are nobody's business";
  EXPECT_EQ(trace.events[1].at.line, 31);
  EXPECT_EQ(trace.events[1].end, Nanos(9));
  EXPECT_EQ(trace.events[1].label.layer, 3);
  EXPECT_EQ(trace.memory[1].live[3], Bytes(64));
  EXPECT_EQ(members_of(trace, 0), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(members_of(trace, 1), (std::vector<int>{2, 0}));
  EXPECT_EQ(trace.names, std::vector<std::string>{"matmul"});
  std::ofstream(path) << "something else entirely";
  EXPECT_THAT([&] { verdict::read_traces(back, path); },
              ::testing::ThrowsMessage<std::runtime_error>(::testing::HasSubstr("another version of shardlings")));
  std::remove(path.c_str());
  EXPECT_THROW(verdict::read_traces(back, path), std::runtime_error);
}

}  // namespace
}  // namespace shardlings::grading

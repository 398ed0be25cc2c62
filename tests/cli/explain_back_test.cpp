// Which questions a run gives rise to, and that its trace has the answers.

#include "cli/learner/explain_back.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace shardlings::cli::learner {
namespace {

using front::Event;
using front::EventKind;
using grading::verdict::CaseVerdict;
using grading::verdict::Question;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A run of so many ranks that all end at the same time, with the same peak.
CaseVerdict run_of(int ranks) {
  CaseVerdict kase;
  kase.counters.resize(static_cast<std::size_t>(ranks));
  for (front::Counters& counters : kase.counters) counters.end = Nanos(9000);
  kase.traces.resize(static_cast<std::size_t>(ranks));
  for (front::RankTrace& trace : kase.traces) trace.names = {"send_recv", "recv", "all_reduce"};
  return kase;
}

Event event_of(EventKind kind, std::uint16_t name, int peer, std::int64_t begin, std::int64_t end, std::int64_t bytes) {
  Event event;
  event.kind = kind;
  event.name = name;
  event.peer = peer;
  event.begin = Nanos(begin);
  event.end = Nanos(end);
  event.bytes = Bytes(bytes);
  return event;
}

std::vector<std::string> ids_of(const std::vector<Question>& questions) {
  std::vector<std::string> ids;
  for (const Question& question : questions) ids.push_back(question.id);
  return ids;
}

TEST(ExplainBack, OfASendReceiveAsksToWhichRankItSends) {
  CaseVerdict kase = run_of(4);
  kase.traces[0].events = {event_of(EventKind::wait, 0, 1, 0, 5000, 0)};
  const std::vector<Question> questions = questions_about(kase);
  ASSERT_THAT(ids_of(questions), ElementsAre("waits_for", "end"));
  EXPECT_THAT(questions[0].text, HasSubstr("To which rank of the world does it send there?"));
  EXPECT_EQ(questions[0].value, 1);
  EXPECT_EQ(questions[0].formula, "that is send_recv to rank 1");
}

TEST(ExplainBack, OfAReceiveAsksFromWhichRankItComes) {
  CaseVerdict kase = run_of(4);
  kase.traces[2].events = {event_of(EventKind::wait, 1, 3, 0, 5000, 0)};
  const std::vector<Question> questions = questions_about(kase);
  EXPECT_THAT(questions[0].text, HasSubstr("From which rank of the world does it receive there?"));
  EXPECT_EQ(questions[0].value, 3);
}

TEST(ExplainBack, WhereRanksDoTheSameAsksAboutTheirCollectives) {
  CaseVerdict kase = run_of(2);
  for (front::RankTrace& trace : kase.traces) {
    trace.events = {event_of(EventKind::collective, 2, -1, 0, 1000, 64),
                    event_of(EventKind::collective, 2, -1, 1000, 4000, 256)};
  }
  const std::vector<Question> questions = questions_about(kase);
  ASSERT_THAT(ids_of(questions), ElementsAre("sends", "collectives", "end"));
  EXPECT_EQ(questions[0].value, 256);
  EXPECT_EQ(questions[1].value, 2);
  EXPECT_EQ(questions[2].value, 9000);
}

TEST(ExplainBack, SaysNoTimeOfACollectiveThatTakesNone) {
  CaseVerdict kase = run_of(2);
  kase.traces[0].events = {event_of(EventKind::collective, 2, -1, 0, 0, 64)};
  EXPECT_THAT(questions_about(kase)[0].text, Not(HasSubstr("runs from")));
}

TEST(ExplainBack, SaysOfACollectiveInsideACallOfTheModelThatALayerMakesIt) {
  CaseVerdict kase = run_of(2);
  kase.traces[0].events = {event_of(EventKind::collective, 2, -1, 0, 1000, 64)};
  EXPECT_THAT(questions_about(kase)[0].text, HasSubstr("Rank 0 calls"));
  kase.traces[0].events[0].depth = 1;
  EXPECT_THAT(questions_about(kase)[0].text, HasSubstr("a layer calls"));
}

TEST(ExplainBack, AsksNotForTheBytesOfOneNumber) {
  CaseVerdict kase = run_of(2);
  kase.traces[0].events = {event_of(EventKind::collective, 2, -1, 0, 1000, 8)};
  EXPECT_THAT(ids_of(questions_about(kase)), ElementsAre("collectives", "end"));
}

TEST(ExplainBack, AsksNotAboutCallsOfTheHarness) {
  CaseVerdict kase = run_of(2);
  kase.traces[0].events = {event_of(EventKind::wait, 1, 1, 0, 5000, 0),
                           event_of(EventKind::collective, 2, -1, 0, 1000, 64)};
  for (Event& event : kase.traces[0].events) event.at = {"puzzles/43_data_and_seeds/harness.cpp", 167};
  EXPECT_THAT(ids_of(questions_about(kase)), ElementsAre("collectives", "end"));
}

}  // namespace
}  // namespace shardlings::cli::learner

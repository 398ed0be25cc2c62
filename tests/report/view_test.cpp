// The parts of the page of `view`: what is packed comes out again, coarse levels lie about nothing, bytes are where
// they belong, and text stays text. tests/browser looks at the page itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "report/verdicts.h"
#include "report/view/assets.h"
#include "report/view/case_data.h"
#include "report/view/detail.h"
#include "report/view/packed.h"
#include "report/view/page.h"
#include "report/view/traffic.h"

namespace shardlings::report {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kMs;
using ::testing::Not;

/// The numbers of columns that are packed one after another.
std::vector<std::int64_t> unpacked(const std::string& bytes) {
  std::vector<std::int64_t> numbers;
  std::uint64_t raw = 0;
  int shift = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    raw |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    shift += 7;
    if (byte & 0x80) continue;
    numbers.push_back(static_cast<std::int64_t>(raw >> 1) ^ -static_cast<std::int64_t>(raw & 1));
    raw = 0;
    shift = 0;
  }
  return numbers;
}

TEST(Packed, NumbersComeOutAgain) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::int64_t> numbers(random() % 40 + 2);
    for (auto& number : numbers) number = static_cast<std::int64_t>(random() >> (random() % 50 + 11)) - 1000;
    numbers[0] = 1 + numbers[1];
    PackedColumns packed;
    packed.add("a", numbers);
    const auto steps = unpacked(packed.bytes());
    std::vector<std::int64_t> sums(steps.size());
    std::partial_sum(steps.begin(), steps.end(), sums.begin());
    EXPECT_EQ(sums, numbers);
  }
}

TEST(Packed, ColumnsSayWhetherTheyAreWide) {
  PackedColumns packed;
  packed.add("narrow", {1, -2'147'483'648});
  packed.add("wide", {0, 2'147'483'648});
  ASSERT_EQ(packed.columns().size(), 2U);
  EXPECT_FALSE(packed.columns()[0].wide);
  EXPECT_TRUE(packed.columns()[1].wide);
  EXPECT_EQ(packed.columns()[0].count, 2U);
}

TEST(Packed, ColumnsOfOneNumberTakeNoBytes) {
  PackedColumns packed;
  packed.add("none", {});
  packed.add("sevens", {7, 7, 7});
  EXPECT_EQ(packed.bytes(), "");
  EXPECT_EQ(packed.columns()[0].constant, 0);
  EXPECT_EQ(packed.columns()[1].constant, 7);
  EXPECT_EQ(packed.columns()[1].count, 3U);
}

TEST(Packed, Base64IsThatOfTheStandard) {
  // RFC 4648, section 10.
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xFB\xFF"), "+/8=");
}

TEST(Packed, DeflatedIsInflatedByZlib) {
  const std::string text(10'000, 'a');
  const std::string small = deflated(text);
  EXPECT_LT(small.size(), 100U);
  std::string back(text.size(), '\0');
  uLongf size = back.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(back.data()), &size, reinterpret_cast<const Bytef*>(small.data()),
                       small.size()),
            Z_OK);
  EXPECT_EQ(back, text);
}

TEST(Levels, KeepWhatIsCovered) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    constexpr std::int64_t kEnd = 100'000;
    const int bins = 1 << (random() % 8);
    std::vector<Mark> marks;
    std::int64_t busy = 0;
    for (std::int64_t now = 0; now < kEnd;) {
      const std::int64_t begin = now + random() % 2000;
      const std::int64_t end = std::min<std::int64_t>(kEnd, begin + 1 + random() % 3000);
      if (begin < end) {
        const bool idle = random() % 4 == 0;
        marks.push_back({begin, end, idle ? Paint::idle : Paint::forward, static_cast<int>(random() % 3)});
        busy += idle ? 0 : end - begin;
      }
      now = std::max(end, begin);
    }
    const auto segments = segments_of(marks, kEnd, bins);
    double shown = 0;
    int before = 0;
    for (const Segment& segment : segments) {
      EXPECT_GE(segment.begin, before);
      before = segment.begin + segment.length;
      EXPECT_LE(before, bins);
      EXPECT_NE(segment.paint, Paint::idle);
      shown += static_cast<double>(segment.cover) / kFullCover * segment.length * kEnd / bins;
    }
    // A share is rounded to a part, and never to nothing.
    EXPECT_NEAR(shown, static_cast<double>(busy), static_cast<double>(kEnd) / kFullCover) << bins << " bins";
    for (const Mark& mark : marks) {
      if (mark.paint == Paint::idle) continue;
      const auto bin = static_cast<int>(mark.begin * bins / kEnd);
      EXPECT_TRUE(std::any_of(segments.begin(), segments.end(), [&](const Segment& segment) {
        return segment.begin <= bin && bin < segment.begin + segment.length;
      })) << "nothing is lost, however short it is";
    }
  }
}

TEST(Levels, ShowWhatPrevails) {
  const std::vector<Mark> marks = {{0, 6, Paint::forward, 1},
                                   {6, 10, Paint::backward, 1},
                                   {10, 20, Paint::backward, 2},
                                   {20, 30, Paint::backward, 2}};
  EXPECT_THAT(segments_of(marks, 40, 4),
              ElementsAre(Segment{0, 1, Paint::forward, 1, 16}, Segment{1, 2, Paint::backward, 2, 16}));
  EXPECT_THAT(segments_of({{5, 6, Paint::loss, -1}}, 1000, 2), ElementsAre(Segment{0, 1, Paint::loss, -1, 1}));
  EXPECT_THAT(segments_of({{5, 5, Paint::loss, -1}}, 1000, 2), IsEmpty()) << "it takes no time";
  EXPECT_THAT(segments_of({}, 0, 2), IsEmpty());
}

TEST(Levels, AreThereForLongLanesOnly) {
  EXPECT_THAT(levels_for(100), IsEmpty());
  EXPECT_THAT(levels_for(5000), ElementsAre(1024, 2048));
}

front::RankTrace sender(front::EventKind kind, const std::string& name, int peer, std::int64_t bytes) {
  front::RankTrace trace;
  trace.names = {name};
  trace.groups = {"world"};
  trace.members = {std::make_shared<const std::vector<int>>(std::vector{0, 1, 2})};
  front::Event event = testing::event(kind, Nanos(0), kMs);
  event.group = 0;
  event.peer = peer;
  event.bytes = Bytes(bytes);
  trace.events = {event, event};
  return trace;
}

TEST(Traffic, GoesToTheReceiver) {
  const auto parts = traffic_of({sender(front::EventKind::collective, "all_reduce", 1, 100),
                                 sender(front::EventKind::send, "send", 2, 7), front::RankTrace{}});
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].operation, "all_reduce");
  EXPECT_EQ(parts[0].cells.at({0, 1}).bytes, Bytes(200));
  EXPECT_EQ(parts[0].cells.at({0, 1}).calls, 2);
  EXPECT_EQ(parts[1].cells.at({1, 2}).bytes, Bytes(14));
}

TEST(Traffic, OfSeveralReceiversIsSharedWithoutALoss) {
  const auto parts = traffic_of({sender(front::EventKind::collective, "all_to_all", -1, 101)});
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].cells.size(), 2U);
  EXPECT_EQ(parts[0].cells.at({0, 1}).bytes, Bytes(102));
  EXPECT_EQ(parts[0].cells.at({0, 2}).bytes, Bytes(100));
}

TEST(Traffic, OfGroupsWithOneNameIsKeptApart) {
  auto first = sender(front::EventKind::collective, "all_reduce", 1, 8);
  auto second = sender(front::EventKind::collective, "all_reduce", 3, 8);
  first.members = {std::make_shared<const std::vector<int>>(std::vector{0, 1})};
  second.members = {std::make_shared<const std::vector<int>>(std::vector{2, 3})};
  EXPECT_EQ(traffic_of({first, {}, second}).size(), 2U);
}

TEST(CaseData, HoldsEveryEventAndPointOfMemory) {
  const auto kase = testing::pipeline_case(3, 4, true);
  const CaseData data = case_data(kase);
  const json parsed = json::parse(data.json);
  std::size_t events = 0, points = 0, in_lanes = 0;
  for (const auto& trace : kase.traces) {
    events += trace.events.size();
    points += trace.memory.size();
  }
  for (const json& lane : parsed["lanes"]) in_lanes += lane["events"][1].get<std::size_t>();
  EXPECT_EQ(in_lanes, events);
  for (const json& column : parsed["columns"]) {
    const auto name = column["name"].get<std::string>();
    if (name == "begin") {
      EXPECT_EQ(column["count"], events);
    } else if (name == "memoryTime") {
      EXPECT_EQ(column["count"], points);
    }
  }
  EXPECT_EQ(parsed["ranks"].size(), 3U);
  EXPECT_EQ(parsed["ranks"][0]["peakAt"], "puzzle.cpp:31");
  EXPECT_EQ(parsed["numbering"], "micro");
  EXPECT_FALSE(data.columns.empty());
}

TEST(CaseData, OverlappingMessagesLieInRowsOfTheirOwn) {
  auto kase = testing::layers_case(1);
  const auto send = testing::event(front::EventKind::send, Nanos(0), 3 * kMs);
  kase.traces[0].events.insert(kase.traces[0].events.end(), {send, send});
  const json parsed = json::parse(case_data(kase).json);
  EXPECT_EQ(parsed["lanes"][0]["rows"], 1) << "a program does one thing at a time";
  EXPECT_EQ(parsed["lanes"][1]["rows"], 2);
}

TEST(CaseData, ARunWithoutTracesHasNoColumns) {
  auto kase = testing::pipeline_case(2, 2, false);
  kase.traces.clear();
  EXPECT_EQ(case_data(kase).columns, "");
  EXPECT_EQ(json::parse(case_data(kase).json)["ranks"].size(), 2U);
}

std::string page_of(const grading::verdict::Verdict& verdict, const std::string& puzzle = "20 Pipeline") {
  return view_page({puzzle, {{ViewRole::run, "Your last run", &verdict}}, ""});
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(ViewPage, HoldsNoMarkUpOfASubmission) {
  grading::verdict::Verdict verdict = testing::hostile_verdict();
  const std::string evil = "</script><script>alert(1)</script>{{scripts}}";
  verdict.cases[0].shown.emplace_back().what.label = evil.substr(0, 80);
  verdict.cases[0].kase.name = verdict.cases[0].stdout_text = verdict.cases[0].explanation = evil;
  verdict.cases[0].checks[2].found = verdict.cases[0].checks[2].where.file = evil;
  verdict.cases[0].traces[0].names = {evil};
  verdict.build_log = evil;
  const std::string page = page_of(verdict, evil);
  const std::string harmless = page_of(testing::passed_verdict(testing::pipeline_case(3, 12, true)));
  EXPECT_EQ(count_of(page, "<script"), count_of(harmless, "<script"));
  EXPECT_EQ(count_of(page, "</script>"), count_of(harmless, "</script>"));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
}

TEST(ViewPage, FetchesNothing) {
  const std::string page = page_of(testing::deadlock_verdict());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* reference : {" src=", "@import", "url(", "<link rel=\"stylesheet\""}) {
    EXPECT_THAT(page, Not(HasSubstr(reference)));
  }
}

TEST(ViewPage, IsFilledOnce) {
  const std::string page = page_of(testing::unbuilt_verdict());
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  EXPECT_THAT(page, HasSubstr("did_not_build"));
  EXPECT_THAT(page, HasSubstr("<title>20 Pipeline"));
}

TEST(ViewPage, ShowsOfOtherRunsTheCasesThatItHas) {
  const auto run = testing::passed_verdict(testing::pipeline_case(2, 2, false));
  auto goal = testing::passed_verdict(testing::pipeline_case(2, 2, false));
  goal.cases.push_back(goal.cases[0]);
  goal.cases[1].kase.name = "unshared case";
  const std::string page = view_page({"20", {{ViewRole::run, "Yours", &run}, {ViewRole::goal, "Goal", &goal}}, ""});
  EXPECT_EQ(count_of(page, "class=\"case\">"), 2U);
  EXPECT_THAT(page, Not(HasSubstr("unshared case")));
}

TEST(ViewPage, IsTheSameEveryTime) {
  const auto run = testing::passed_verdict(testing::overlap_case(4, 3));
  EXPECT_EQ(page_of(run), page_of(run));
}

}  // namespace
}  // namespace shardlings::report

// The picture of a run in the terminal: golden files at several widths, with and without colours and Unicode.
#include "report/timeline_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/terminal_text.h"
#include "report/golden.h"
#include "report/memory_strip.h"
#include "report/verdicts.h"

namespace shardlings::report {
namespace {

using shardlings::testing::expect_golden;
using ::testing::HasSubstr;
using ::testing::Not;
namespace samples = shardlings::testing;

struct TimelineSample {
  std::string name;
  grading::verdict::CaseVerdict kase;
};

std::vector<TimelineSample> timeline_samples() {
  std::vector<TimelineSample> all;
  for (int ranks = 1; ranks <= 9; ++ranks) {
    all.push_back(
        {"pipeline_" + std::to_string(ranks), samples::with_budget(samples::pipeline_case(ranks, 4, ranks < 5))});
  }
  all.push_back({"pipeline_64", samples::with_budget(samples::pipeline_case(64, 16, true))});
  all.push_back({"overlap_4", samples::with_budget(samples::overlap_case(4, 5))});
  all.push_back({"overlap_64", samples::with_budget(samples::overlap_case(64, 3))});
  all.push_back({"too_much", samples::with_budget(samples::overlap_case(2, 4), Bytes(9000))});
  all.push_back({"no_budget", samples::layers_case(3)});
  return all;
}

std::string text_of(const grading::verdict::CaseVerdict& kase, int width, Colour colour, Charset charset) {
  TimelineText options;
  options.width = width;
  options.title = "Where the time went: " + kase.kase.name;
  std::string text;
  for (const std::string& line : timeline_lines(kase, Style(colour, charset), options)) text += line + "\n";
  return text;
}

TEST(TimelineText, ReadsAsInTheGoldenFiles) {
  for (const TimelineSample& sample : timeline_samples()) {
    std::string text;
    for (const int width : {60, 80}) {
      text +=
          "== " + std::to_string(width) + " columns\n" + text_of(sample.kase, width, Colour::none, Charset::unicode);
    }
    text += "== 60 columns, ASCII\n" + text_of(sample.kase, 60, Colour::none, Charset::ascii);
    expect_golden("timeline/" + sample.name + ".txt", text);
  }
}

TEST(TimelineText, ReadsAsInTheGoldenFilesOnWideTerminalsAndInColour) {
  for (const char* const name : {"pipeline_4", "pipeline_64", "overlap_4", "too_much"}) {
    const auto all = timeline_samples();
    const auto sample = std::find_if(all.begin(), all.end(), [&](const TimelineSample& s) { return s.name == name; });
    std::string text;
    for (const int width : {120, 200}) text += text_of(sample->kase, width, Colour::none, Charset::unicode);
    text += text_of(sample->kase, 80, Colour::sixteen, Charset::unicode);
    text += text_of(sample->kase, 60, Colour::sixteen, Charset::ascii);
    expect_golden("timeline/" + std::string(name) + "_wide.txt", text);
  }
}

TEST(TimelineText, FitsAndHasNoStrangeCharacters) {
  for (const TimelineSample& sample : timeline_samples()) {
    for (const int width : {60, 61, 79, 80, 120, 200}) {
      for (const Charset charset : {Charset::unicode, Charset::ascii}) {
        const std::string text = text_of(sample.kase, width, Colour::none, charset);
        for (const std::string& line : wrap(text, 1000)) EXPECT_LE(columns_of(line), width) << line;
        for (const char c : text) {
          EXPECT_TRUE(charset == Charset::unicode || c == '\n' || (c >= 0x20 && c < 0x7F)) << sample.name;
        }
      }
    }
  }
}

TEST(TimelineText, UsesSixteenColoursOnly) {
  for (const TimelineSample& sample : timeline_samples()) {
    const std::string text = text_of(sample.kase, 80, Colour::sixteen, Charset::unicode);
    EXPECT_THAT(text, Not(HasSubstr("38;"))) << "no colour of a palette of 256";
    EXPECT_THAT(text, Not(HasSubstr("48;")));
  }
}

TEST(TimelineText, GivesLayersColoursOfTheirOwn) {
  const std::string text = text_of(samples::layers_case(3), 80, Colour::sixteen, Charset::unicode);
  for (const char* const ground : {"\x1b[30;104m", "\x1b[30;43m", "\x1b[30;106m"}) {
    EXPECT_THAT(text, HasSubstr(std::string(ground) + "0")) << "a digit on a ground of the layer's colour";
    break;
  }
  EXPECT_THAT(text, HasSubstr("\x1b[30;43m1"));
  EXPECT_THAT(text, HasSubstr("\x1b[30;106m2"));
}

TEST(TimelineText, DrawsTheBudgetAsALine) {
  const std::string fits = text_of(samples::with_budget(samples::layers_case(3)), 80, Colour::none, Charset::unicode);
  EXPECT_THAT(fits, HasSubstr(" max   │▁▁▁▁"));
  EXPECT_THAT(fits, HasSubstr("to the budget, 16 KiB"));
  const std::string plain = text_of(samples::layers_case(3), 80, Colour::none, Charset::unicode);
  EXPECT_THAT(plain, Not(HasSubstr("max")));
}

TEST(TimelineText, SaysThatOtherRanksWereNotComparedWithTheirBudget) {
  auto kase = samples::with_budget(samples::overlap_case(2, 4), Bytes(9000));
  EXPECT_THAT(text_of(kase, 80, Colour::none, Charset::unicode), Not(HasSubstr("not compared")));
  kase.checks.back().bounds.back().rank = 0;
  EXPECT_THAT(text_of(kase, 160, Colour::none, Charset::unicode),
              HasSubstr("; on ranks that were not compared, to 20 KiB"));
}

TEST(TimelineText, ShowsWhatRisesAboveTheBudget) {
  const auto kase = samples::with_budget(samples::layers_case(3), Bytes(1));
  const std::string text = text_of(kase, 80, Colour::sixteen, Charset::unicode);
  EXPECT_THAT(text, HasSubstr("\x1b[31m▃")) << "even a single byte stands out of the line";
  TimelineText options;
  options.memory = MemoryRows::worst;
  std::string without_line;
  for (const auto& line : timeline_lines(kase, Style(Colour::none, Charset::ascii), options)) without_line += line;
  EXPECT_THAT(without_line, HasSubstr("!"));
}

TEST(TimelineText, CountsTheRanksThatAreNotShown) {
  EXPECT_THAT(text_of(samples::pipeline_case(64, 16, true), 80, Colour::none, Charset::unicode),
              HasSubstr("62 ranks more"));
}

TEST(TimelineText, SaysInOneLineHowTheRunWent) {
  const auto lines = wrap(text_of(samples::overlap_case(4, 5), 80, Colour::none, Charset::unicode), 1000);
  EXPECT_THAT(lines, ::testing::Contains(
                         HasSubstr("16 ms · bubble 6.2% · overlap 100% · peak 24 KiB rank 0 · sent 480 B each")));
}

TEST(TimelineText, SaysNoShareOfARunThatWasBrokenOff) {
  auto kase = samples::overlap_case(4, 5);
  kase.failure = front::FailureKind::race;
  const std::string text = text_of(kase, 160, Colour::none, Charset::unicode);
  EXPECT_THAT(text, HasSubstr("broken off at 16 ms · peak 24 KiB"));
  EXPECT_THAT(text, Not(HasSubstr("bubble")));
}

TEST(MemoryStrip, IsFullAtTheTopOnly) {
  const Style style(Colour::none, Charset::unicode);
  EXPECT_EQ(memory_strip({0, 1, 50, 99, 100}, {0, 100}, {}, style), "▁▁▄▇█");
  EXPECT_EQ(memory_strip({100, 101}, {0, 100}, 100, style), "█▲");
  EXPECT_EQ(budget_line({100, 101, 160}, {0, 100}, style), "▁▃▇");
  const Style ascii(Colour::none, Charset::ascii);
  EXPECT_EQ(memory_strip({0, 50, 99, 100, 101}, {0, 100}, 100, ascii), ".::|!");
  EXPECT_EQ(budget_line({100, 101}, {0, 100}, ascii), "_!");
}

}  // namespace
}  // namespace shardlings::report

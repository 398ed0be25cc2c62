// The picture of a run as SVG: well-formed, harmless, the same every time.
#include "report/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <stack>

#include "report/golden.h"
#include "report/svg_canvas.h"
#include "report/verdicts.h"

namespace shardlings::report {
namespace {

using shardlings::testing::expect_golden;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace samples = shardlings::testing;

/// Complains unless tags nest, attributes are quoted and no stray markup is left. Enough for what SvgCanvas writes.
std::string malformed(const std::string& xml) {
  std::stack<std::string> open;
  for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at)) {
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return "a tag that does not end";
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos) return "markup inside a tag: " + tag;
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "an open attribute: " + tag;
    const std::string name = tag.substr(0, tag.find_first_of(" \n/", 1));
    if (name[0] == '/') {
      if (open.empty() || "/" + open.top() != name) return "an end without its begin: " + name;
      open.pop();
    } else if (tag.back() != '/') {
      open.push(name);
    }
    at = end;
  }
  return open.empty() ? "" : "no end of " + open.top();
}

std::vector<std::pair<std::string, grading::verdict::CaseVerdict>> svg_samples() {
  return {{"pipeline", samples::with_budget(samples::pipeline_case(4, 6, true))},
          {"overlap", samples::with_budget(samples::overlap_case(2, 4))},
          {"too_much", samples::with_budget(samples::overlap_case(1, 4), Bytes(9000))},
          {"ring", samples::ring_case(3)},
          {"layers", samples::layers_case(3)},
          {"many", samples::with_budget(samples::pipeline_case(64, 8, true))}};
}

TEST(Svg, IsWellFormed) {
  for (const auto& [name, kase] : svg_samples()) EXPECT_EQ(malformed(timeline_svg(kase, name)), "") << name;
}

TEST(Svg, ReadsAsInTheGoldenFiles) {
  for (const char* const name : {"pipeline", "overlap", "too_much"}) {
    for (const auto& [sample, kase] : svg_samples()) {
      if (sample == name) expect_golden("svg/" + sample + ".svg", timeline_svg(kase, "Golden: " + sample));
    }
  }
}

TEST(Svg, ShowsRanksWithATraceAlone) {
  auto kase = samples::with_budget(samples::pipeline_case(64, 8, true));
  kase.kase.traced = std::vector<int>{0, 2, 40};
  const std::string svg = timeline_svg(kase, "");
  EXPECT_THAT(svg, ::testing::AllOf(HasSubstr(">rank 0<"), HasSubstr(">… 1 rank more<"), HasSubstr(">rank 2<"),
                                    HasSubstr(">… 37 ranks more<"), HasSubstr(">rank 40<")));
  EXPECT_THAT(svg, Not(HasSubstr(">rank 63<")));
}

TEST(Svg, LeavesMarkupText) {
  auto kase = samples::overlap_case(2, 2);
  kase.counters[0].peak_file = "</svg><script>x</script>.cpp";
  const std::string svg = timeline_svg(kase, "<script>alert('1 & 2')</script> \"x\" \x1b[31m \xff");
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;alert('1 &amp; 2')&lt;/script&gt; &quot;x&quot;"));
  EXPECT_EQ(malformed(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("\x1b")));
}

TEST(Svg, FetchesNothingAndRunsNothing) {
  for (const auto& [name, kase] : svg_samples()) {
    std::string svg = timeline_svg(kase, name);
    const std::string space = "xmlns=\"http://www.w3.org/2000/svg\"";
    svg.erase(svg.find(space), space.size());
    EXPECT_THAT(svg, Not(HasSubstr("http")));
    EXPECT_THAT(svg, Not(HasSubstr("href")));
    EXPECT_THAT(svg, Not(HasSubstr("<script")));
  }
}

TEST(Svg, CanBeReadAloudAndInTheDark) {
  const std::string svg = timeline_svg(samples::with_budget(samples::pipeline_case(4, 6, true)), "A pipeline");
  EXPECT_THAT(svg, HasSubstr("role=\"img\""));
  EXPECT_THAT(svg, HasSubstr("<title id=\"shardlings-title\">A pipeline</title>"));
  EXPECT_THAT(svg, HasSubstr("Timeline of 4 ranks in virtual time. virtual time 27 ms · idle (bubble) 33.3 %"));
  EXPECT_THAT(svg, HasSubstr("@media (prefers-color-scheme: dark)"));
  EXPECT_THAT(svg, HasSubstr(">rank 3</text>")) << "text stays text";
}

TEST(Svg, LeavesTheSummaryOutForReadersWhoAreToWorkItOut) {
  const auto kase = samples::with_budget(samples::pipeline_case(4, 6, true));
  EXPECT_THAT(timeline_svg(kase, "A pipeline"), HasSubstr(" peak "));
  EXPECT_THAT(timeline_svg(kase, "A pipeline", false), AllOf(HasSubstr(">rank 3</text>"), Not(HasSubstr(" peak "))));
}

TEST(Svg, MarksWhatIsAboveTheBudget) {
  EXPECT_THAT(timeline_svg(samples::with_budget(samples::layers_case(3)), ""), Not(HasSubstr("class=\"over\"")));
  EXPECT_THAT(timeline_svg(samples::with_budget(samples::layers_case(3), Bytes(1)), ""), HasSubstr("class=\"over\""));
  EXPECT_THAT(timeline_svg(samples::layers_case(3), ""), Not(HasSubstr("class=\"budget\"")));
}

TEST(Svg, StaysSmallWhereMuchHappens) {
  auto kase = samples::pipeline_case(2, 20000, false);
  EXPECT_LT(timeline_svg(kase, "many").size(), 2'000'000U) << "blocks that nobody could see are left out";
}

TEST(Svg, ShowsEveryBlockThatHasRoom) {
  const std::string svg = timeline_svg(samples::layers_case(3), "");
  std::size_t full = 0;
  for (std::size_t at = svg.find(" full\""); at != std::string::npos; at = svg.find(" full\"", at + 1)) ++full;
  EXPECT_EQ(full, 3 + 3 + 2U) << "forwards, updates and two entries of the legend";
}

TEST(SvgCanvas, WritesHundredths) {
  EXPECT_EQ(point('M', 1.0 / 3, 2), "M0.33 2");
  EXPECT_EQ(point('L', -0.001, 100), "L0 100");
  EXPECT_EQ(xml_text("a<b>\n\x01"), "a&lt;b&gt;\\n\\x01");
}

TEST(Svg, WithoutFiguresSaysNothingThatIsToBeWorkedOut) {
  const auto kase = samples::overlap_case(2, 4);
  const std::string end = ">" + to_text(kase.counters[0].end) + "<";
  EXPECT_THAT(timeline_svg(kase, "a goal"), HasSubstr(end));
  EXPECT_THAT(timeline_svg(kase, "a goal", false), Not(HasSubstr(end)));
}

}  // namespace
}  // namespace shardlings::report

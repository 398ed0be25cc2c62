// Markdown as the repository has it, as HTML.
#include "site/markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlings::site {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Surroundings somewhere() {
  Surroundings around;
  around.path = "docs/x.md";
  around.link = [](const std::string& link) {
    return link == "nowhere.cpp" ? Target{"", "docs/nowhere.cpp"} : Target{link + "!", ""};
  };
  around.picture = [](const std::string& source) { return "pictures/" + source; };
  return around;
}

std::string html_of(const std::string& text) {
  return rendered_markdown(text, somewhere()).html;
}

/// What rendering says is wrong; empty if nothing is.
std::string error_of(const std::string& text) {
  try {
    html_of(text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Markdown, HeadingsHaveAnchorsThatDiffer) {
  EXPECT_EQ(html_of("# A `b`, and\n"), "<h1 id=\"a-b-and\">A <code>b</code>, and</h1>\n");
  EXPECT_THAT(html_of("# A\n\n## A\n"), HasSubstr("<h2 id=\"a-1\">"));
  Surroundings around = somewhere();
  around.prefix = "after-";
  around.deeper = 1;
  EXPECT_EQ(rendered_markdown("# A\n", around).html, "<h2 id=\"after-a\">A</h2>\n");
}

TEST(Markdown, LinksLeadToPagesOrAreNone) {
  EXPECT_THAT(html_of("[a](b.md)"), HasSubstr("<a href=\"b.md!\">a</a>"));
  EXPECT_THAT(html_of("[a](nowhere.cpp)"),
              HasSubstr("<span class=\"place\" title=\"In the repository: docs/nowhere.cpp\">a</span>"));
}

TEST(Markdown, PicturesKeepTheirWords) {
  EXPECT_THAT(html_of("![N ranks, `x`](goal.svg)"), HasSubstr("<img src=\"pictures/goal.svg\" alt=\"N ranks, x\""));
}

TEST(Markdown, TablesScrollAndHaveHeaders) {
  const std::string html = html_of("| | bytes |\n|---|--:|\n| t_F | 2 |\n");
  EXPECT_THAT(html, HasSubstr("<div class=\"scroll\"><table>"));
  EXPECT_THAT(html, HasSubstr("<tr><td></td><th scope=\"col\" class=\"right\">bytes</th></tr>"));
  EXPECT_THAT(html, HasSubstr("<td><math alttext=\"t_F\">"));
}

TEST(Markdown, EntriesOfATableAreSections) {
  Surroundings around = somewhere();
  around.entries = true;
  const Rendered rendered =
      rendered_markdown("# A\n\n| word | meaning |\n|---|---|\n| micro-batch | a part of it |\n", around);
  EXPECT_THAT(rendered.html, HasSubstr("<tr id=\"micro-batch\"><td>micro-batch</td>"));
  ASSERT_EQ(rendered.sections.size(), 3U);
  EXPECT_EQ(rendered.sections[2].heading, "micro-batch");
  EXPECT_THAT(rendered.sections[2].text, HasSubstr("a part of it"));
}

TEST(Markdown, FormulasGoOnInTheNextLine) {
  EXPECT_THAT(html_of("takes 2 (N−1)\n(α + S) ms"), HasSubstr("<math alttext=\"2 (N−1) (α + S)\">"));
  EXPECT_THAT(html_of("`S/BW` and *S*"), HasSubstr("<code>S/BW</code> and <em><math"));
}

TEST(Markdown, BlocksOfFormulasAreMarked) {
  EXPECT_THAT(html_of("```formula\nS = N α BW\n```\n"),
              HasSubstr("<div class=\"formula scroll\"><math displaystyle=\"true\""));
  EXPECT_THAT(html_of("```text\nS = N α BW\n```\n"), HasSubstr("<pre class=\"scroll\"><code>S = N"));
  EXPECT_EQ(error_of("one\n\n```\nS = N α BW\n```\n"),
            "docs/x.md:4: this block reads like a formula: mark it as formula, or as text if it is to stay as it is");
  EXPECT_THAT(error_of("```formula\nrank 0\n```\n"), HasSubstr("docs/x.md:2: "));
}

TEST(Markdown, MarkupInTextIsText) {
  EXPECT_THAT(html_of("a <script> & `<b>`"), HasSubstr("a &lt;script&gt; &amp; <code>&lt;b&gt;</code>"));
  EXPECT_THAT(html_of("```\n<script>\n```\n"), Not(HasSubstr("<script>")));
}

TEST(Markdown, SectionsHaveTheTextBelowTheirHeadings) {
  const auto sections =
      rendered_markdown("# A\n\none *two*\nthree\n\n## B\n\n| c | d |\n|---|---|\n| e | f |\n", somewhere()).sections;
  ASSERT_EQ(sections.size(), 3U);
  EXPECT_EQ(sections[1].heading, "A");
  EXPECT_THAT(sections[1].text, HasSubstr("one two three"));
  EXPECT_EQ(sections[2].anchor, "b");
  EXPECT_EQ(sections[2].level, 2);
  EXPECT_THAT(sections[2].text, HasSubstr("e"));
}

}  // namespace
}  // namespace shardlings::site

#include "cli/terminal/markdown.h"
#include "base/text.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/terminal_text.h"

namespace shardlings::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string rendered(const std::string& text, int width = 80, bool colour = false) {
  std::ostringstream out;
  const Context context{.project = {},
                        .out = out,
                        .err = out,
                        .colour = colour ? report::Colour::sixteen : report::Colour::none,
                        .width = width};
  return terminal::render_markdown(text, context);
}

int widest(const std::string& text) {
  int width = 0;
  for (const std::string& line : lines_of(text)) width = std::max(width, columns_of(line));
  return width;
}

TEST(Markdown, JoinsAndWrapsParagraphs) {
  EXPECT_EQ(rendered("one two\nthree four\n\nnext\n", 12), "one two\nthree four\n\nnext\n");
  EXPECT_EQ(rendered("one two\nthree", 80), "one two three\n");
}

TEST(Markdown, HasOtherFormsForWhatIsBeyondAscii) {
  std::ostringstream out;
  const Context context{.project = {}, .out = out, .err = out, .charset = report::Charset::ascii};
  EXPECT_EQ(
      terminal::render_markdown("α + 2 (N−1)/N · 4 Ψ ≤ 10⁻⁵ h², X Wᵀ\n\n```\n┌──╱┐\n│0·│\n└──┘\n```\n€\n", context),
      "alpha + 2 (N-1)/N * 4 Psi <= 10^-5 h^2, X W^T\n\n    +--/+\n    |0.|\n    +--+\n?\n");
}

TEST(Markdown, UnderlinesTheTitleOnly) {
  EXPECT_EQ(rendered("# Title\n\ntext\n## Part\ntext\n"), "Title\n=====\n\ntext\n\nPart\ntext\n");
}

TEST(Markdown, LeavesCodeAsItIs) {
  const std::string code =
      "```cpp\nint   a =  1;  // a long line of code that is wider than the terminal\n\n  b();\n```\n";
  EXPECT_EQ(rendered(code, 40),
            "    int   a =  1;  // a long line of code that is wider than the terminal\n\n      b();\n");
}

TEST(Markdown, SaysWhatAPictureShows) {
  EXPECT_EQ(rendered("![a bird](bird.svg) and [words](there)"), "(Picture: a bird) and words\n");
  EXPECT_EQ(rendered("Look! [a](b) ![c"), "Look! a ![c\n");
}

TEST(Markdown, DropsMarksButNotInsideCode) {
  EXPECT_EQ(rendered("a **bold** and *thin* `x *= y**2` word"), "a bold and thin x *= y**2 word\n");
  EXPECT_EQ(rendered("2 * 3 * 4 and 2(N-1)/N"), "2 * 3 * 4 and 2(N-1)/N\n");
}

TEST(Markdown, ShowsAddressesOfTheWebAndOfTheProjectsDocuments) {
  EXPECT_EQ(rendered("[paper](https://arxiv.org/abs/1) and [code](runtime/a.cpp)"),
            "paper (https://arxiv.org/abs/1) and code\n");
  EXPECT_EQ(rendered("[the map](../../docs/map.md) and [clock](../../docs/reference/clock.md#trees)"),
            "the map (docs/map.md) and clock (docs/reference/clock.md)\n");
  EXPECT_EQ(rendered("[docs/map.md](../../docs/map.md#chapters)"), "docs/map.md\n");
}

TEST(Markdown, HangsLists) {
  EXPECT_EQ(rendered("- one two three\n- four\n", 10), "- one two\n  three\n- four\n");
  EXPECT_EQ(rendered("1. one\n   more\n2. two\n", 80), "1. one more\n2. two\n");
}

TEST(Markdown, BeginsNoListWhereASentenceGoesOnWithANumber) {
  EXPECT_EQ(rendered("with 8 ranks 28 of\n56. In backward\nthey return.\n"),
            "with 8 ranks 28 of 56. In backward they return.\n");
  EXPECT_EQ(rendered("- or one beyond\n448. With any\n"), "- or one beyond 448. With any\n");
  EXPECT_EQ(rendered("text\n1. one\n2. two\n"), "text\n1. one\n2. two\n");
  EXPECT_EQ(rendered("7. seven\n8. eight\n"), "7. seven\n8. eight\n");
}

TEST(Markdown, AlignsTables) {
  EXPECT_EQ(rendered("| | shape |\n|---|---|\n| `x` | (s, b) |\n| longer | (n) |\n"),
            "          shape\n  --------------\n  x       (s, b)\n  longer  (n)\n");
}

TEST(Markdown, FitsTablesIntoTheWidth) {
  const std::string table = "| name | meaning |\n|---|---|\n| a | " + std::string(30, 'x') +
                            " word word word word word word word word word word word word word word |\n";
  EXPECT_LE(widest(rendered(table, 60)), 60);
  EXPECT_THAT(rendered(table, 60), HasSubstr("word"));
}

TEST(Markdown, BreaksNoWordOfATable) {
  const std::string table =
      "| a phase of the schedule | what is at work then, in many words that may stand below one another |\n|---|---|\n"
      "| the cool-down-of-the-pipeline | word word word word word word word word word |\n";
  EXPECT_THAT(rendered(table, 60), HasSubstr("cool-down-of-the-pipeline"));
  EXPECT_LE(widest(rendered(table, 60)), 60);
}

TEST(Markdown, IsNeverWiderThanTheTerminalNorThanAHundred) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "word `code` **bold** ";
  EXPECT_LE(widest(rendered(text, 50)), 50);
  EXPECT_LE(widest(rendered(text, 180)), 100);
}

TEST(Markdown, ColoursOnlyWhereTheyAreWanted) {
  EXPECT_THAT(rendered("# T\n`c` **b**"), Not(HasSubstr("\x1b")));
  EXPECT_THAT(rendered("# T\n`c` **b**", 80, true), HasSubstr("\x1b["));
}

TEST(Markdown, SurvivesWhatIsNotClosed) {
  EXPECT_EQ(rendered("a `b and **c and [d]("), "a `b and **c and [d](\n");
  EXPECT_EQ(rendered("```\ncode"), "    code\n");
}

}  // namespace
}  // namespace shardlings::cli

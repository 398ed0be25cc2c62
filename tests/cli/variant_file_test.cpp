#include "cli/author/variant_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlings::cli::author {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> names_of(const VariantFile& file) {
  std::vector<std::string> names;
  for (const Variant& variant : file.variants) names.push_back(variant.name);
  return names;
}

std::vector<std::string> texts_of(const std::vector<Edit::Line>& lines) {
  std::vector<std::string> texts;
  for (const Edit::Line& line : lines) texts.push_back(line.text);
  return texts;
}

/// The only problem of a file, "m.txt:1: …".
std::string problem_of(const std::string& text) {
  const VariantFile file = parse_variants(text, "m.txt");
  return file.problems.size() == 1 ? file.problems[0] : std::to_string(file.problems.size()) + " problems";
}

TEST(VariantFile, ReadsAStanza) {
  const VariantFile file = parse_variants(
      "# Ways to get it wrong.\n\n== averaged -> scaled_by_ranks\nTakes the mean,\nnot the sum.\n-  a();\n+  b();\n+\n "
      "  c();\n",
      "m.txt");
  EXPECT_THAT(file.problems, IsEmpty());
  ASSERT_EQ(file.variants.size(), 1U);
  const Variant& variant = file.variants[0];
  EXPECT_EQ(variant.name, "averaged");
  EXPECT_EQ(variant.diagnosis, "scaled_by_ranks");
  EXPECT_EQ(variant.sentence, "Takes the mean, not the sum.");
  EXPECT_FALSE(variant.whole_hole);
  EXPECT_EQ(variant.file, "m.txt");
  EXPECT_EQ(variant.line, 3);
  ASSERT_EQ(variant.edits.size(), 1U);
  EXPECT_THAT(texts_of(variant.edits[0].before), ElementsAre("  a();", "  c();"));
  EXPECT_THAT(texts_of(variant.edits[0].after), ElementsAre("  b();", "", "  c();"));
  EXPECT_EQ(variant.edits[0].before[0].number, 6);
}

TEST(VariantFile, ReadsSeveralEditsAndSeveralStanzas) {
  const VariantFile file = parse_variants(
      "== one -> x\nFirst.\n-a\n...\n-b\n+c\n# between them\n\n== two -> y (whole hole)\nSecond.\n+d\n+e\n\n\n",
      "m.txt");
  EXPECT_THAT(file.problems, IsEmpty());
  EXPECT_THAT(names_of(file), ElementsAre("one", "two"));
  ASSERT_EQ(file.variants[0].edits.size(), 2U);
  EXPECT_THAT(texts_of(file.variants[0].edits[0].before), ElementsAre("a"));
  EXPECT_THAT(texts_of(file.variants[0].edits[1].after), ElementsAre("c"));
  EXPECT_TRUE(file.variants[1].whole_hole);
  EXPECT_THAT(texts_of(file.variants[1].edits[0].after), ElementsAre("d", "e"));
}

TEST(VariantFile, ReadsTheMilestoneThatAMutantPasses) {
  const VariantFile file = parse_variants("== one -> x (passes b)\nWhy.\n-a\n", "m.txt");
  ASSERT_THAT(file.problems, IsEmpty());
  EXPECT_EQ(file.variants[0].milestone, "b");
  EXPECT_EQ(file.variants[0].diagnosis, "x");
}

TEST(VariantFile, ReadsAVariantWithoutADiagnosis) {
  const VariantFile file = parse_variants("== other_order\nRight as well.\n-a\n+b\n", "right.txt");
  EXPECT_THAT(file.problems, IsEmpty());
  EXPECT_EQ(file.variants.at(0).diagnosis, "");
}

TEST(VariantFile, ReadsLinesOfOtherSystems) {
  const VariantFile file = parse_variants("== one -> x\r\nFirst.\r\n-a\r\n+b\r\n", "m.txt");
  EXPECT_THAT(file.problems, IsEmpty());
  EXPECT_THAT(texts_of(file.variants.at(0).edits[0].after), ElementsAre("b"));
}

TEST(VariantFile, FindsByName) {
  const VariantFile file = parse_variants("== one -> x\nFirst.\n-a\n", "m.txt");
  ASSERT_NE(file.find("one"), nullptr);
  EXPECT_EQ(file.find("one")->diagnosis, "x");
  EXPECT_EQ(file.find("two"), nullptr);
}

TEST(VariantFile, NothingIsNoProblem) {
  EXPECT_THAT(parse_variants("", "m.txt").variants, IsEmpty());
  EXPECT_THAT(parse_variants("# only a comment\n", "m.txt").problems, IsEmpty());
}

TEST(VariantFile, GoesOnBehindABadStanza) {
  const VariantFile file = parse_variants("== bad -> x\n-a\n\n== good -> y\nGood.\n-a\n", "m.txt");
  EXPECT_THAT(names_of(file), ElementsAre("good"));
  EXPECT_THAT(file.problems, ElementsAre("m.txt:1: bad: no sentence below the heading says what is different"));
}

class BadStanza : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(BadStanza, IsNamedWithFileAndLine) {
  EXPECT_EQ(problem_of(GetParam().first), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(
    VariantFile, BadStanza,
    testing::Values(
        std::pair{"-a\n", "m.txt:1: stands above the first heading, \"== name\""},
        std::pair{"== one -> \nWhy.\n-a\n",
                  "m.txt:1: a heading is \"== name -> diagnosis\", of small letters, digits and _"},
        std::pair{"== ../x -> y\nWhy.\n-a\n",
                  "m.txt:1: a heading is \"== name -> diagnosis\", of small letters, digits and _"},
        std::pair{"== one -> x\n\n", "m.txt:1: one: no sentence below the heading says what is different"},
        std::pair{"== one -> x\nWhy.\n\n", "m.txt:1: one: there are no lines that go or come"},
        std::pair{"== one -> x\nWhy.\n stays\n", "m.txt:3: one: an edit without a line that goes or comes"},
        std::pair{"== one -> x\nWhy.\n-a\n...\n", "m.txt:5: one: an edit without a line that goes or comes"},
        std::pair{"== one -> x\nWhy.\n...\n-a\n", "m.txt:3: one: \"...\" stands between two edits"},
        std::pair{
            "== one -> x\nWhy.\n-a\n...\n+b\n",
            "m.txt:5: one: nothing says where these lines go; a line that stays, above or below, begins with a space"},
        std::pair{"== one -> x\nWhy.\n-a\n\n+b\n",
                  "m.txt:4: one: a blank line ends a stanza; + or - stands for one that comes or goes"},
        std::pair{"== one -> x\nWhy.\n-a\nBecause.\n", "m.txt:4: one: a line of an edit begins with -, + or a space"},
        std::pair{"== one -> x\n\nWhy.\n-a\n", "m.txt:2: one: a blank line ends a stanza"},
        std::pair{
            "== one -> x (passes the first)\nWhy.\n-a\n",
            "m.txt:1: behind the diagnosis stands nothing, or \"(whole hole)\", or \"(passes a)\" of a milestone"},
        std::pair{"== one -> x (whole hole)\nWhy.\n+a\n-b\n",
                  "m.txt:4: one: a whole hole has lines that come, and no others"},
        std::pair{"== one -> x (whole hole)\nWhy.\n+a\n...\n+b\n",
                  "m.txt:4: one: a whole hole has lines that come, and no others"},
        std::pair{"== one -> x\nWhy.\n-a\n\n== one -> y\nWhy.\n-b\n",
                  "m.txt:5: one: line 1 has a variant of that name already"}));

}  // namespace
}  // namespace shardlings::cli::author

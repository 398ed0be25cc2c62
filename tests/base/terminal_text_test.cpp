#include "base/terminal_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlings {
namespace {

using testing::ElementsAre;

constexpr const char* kRed = "\x1b[31mred\x1b[0m";
constexpr const char* kCombined = "e\xcc\x81";  // an e, and the accent that stands over it

TEST(ColumnsOf, CountsCharactersNotBytes) {
  EXPECT_EQ(columns_of(""), 0);
  EXPECT_EQ(columns_of("abc"), 3);
  EXPECT_EQ(columns_of("✓ ≤ é"), 5);
  EXPECT_EQ(columns_of("█▒"), 2);
}

TEST(ColumnsOf, CountsWideCharactersTwice) {
  EXPECT_EQ(columns_of("漢字"), 4);
  EXPECT_EQ(columns_of("한글"), 4);
  EXPECT_EQ(columns_of("Ａ￥"), 4) << "full-width forms";
  EXPECT_EQ(columns_of("🚀"), 2);
}

TEST(ColumnsOf, CountsWhatIsCombinedNotAtAll) {
  EXPECT_EQ(columns_of(kCombined), 1);
  EXPECT_EQ(columns_of("✓\xef\xb8\x8f"), 1) << "a variation selector";
  EXPECT_EQ(columns_of("a\xe2\x80\x8d"
                       "b"),
            2)
      << "a zero-width joiner";
}

TEST(ColumnsOf, CountsBrokenUtf8ByteByByte) {
  EXPECT_EQ(columns_of("\xff"), 1);
  EXPECT_EQ(columns_of("a\xe6\xbc"), 3) << "cut off";
  EXPECT_EQ(columns_of("\xed\xa0\x80"), 3) << "a surrogate";
}

TEST(ColumnsOf, CountsNoColours) {
  EXPECT_EQ(columns_of(kRed), 3);
  EXPECT_EQ(columns_of("\x1b[1;31"), 0) << "one that is not closed";
}

TEST(FirstColumns, NeverCutsACharacter) {
  EXPECT_EQ(first_columns("漢字", 3), "漢");
  EXPECT_EQ(first_columns(std::string(kCombined) + "x", 1), kCombined);
  EXPECT_EQ(first_columns("abc", 0), "");
  EXPECT_EQ(first_columns("\xff\xff", 1), "\xff");
}

TEST(FirstColumns, NeverCutsAColour) {
  EXPECT_EQ(first_columns(kRed, 2), "\x1b[31mre");
}

TEST(Cut, KeepsWhatFitsAndMarksWhatDoesNot) {
  EXPECT_EQ(cut("abcde", 5), "abcde");
  EXPECT_EQ(cut("abcdef", 5), "abcd…");
  EXPECT_EQ(cut("✓✓✓✓", 3), "✓✓…");
}

TEST(Cut, NeverTakesMoreThanItMay) {
  EXPECT_EQ(cut("漢字漢", 5), "漢字…");
  EXPECT_EQ(cut("漢字漢", 4), "漢…") << "half of a character is none";
}

TEST(Cut, EndsAColourThatItCuts) {
  const std::string shown = cut(std::string(kRed) + "dish", 3);
  EXPECT_EQ(shown, "\x1b[31mre…\x1b[0m");
  EXPECT_EQ(columns_of(shown), 3);
}

TEST(Padded, FillsUpToTheWidth) {
  EXPECT_EQ(padded("✓", 3), "✓  ");
  EXPECT_EQ(padded("漢", 3), "漢 ");
  EXPECT_EQ(padded("abcd", 3), "abcd");
}

TEST(Spaces, AreNoneOfANegativeNumber) {
  EXPECT_EQ(spaces(2), "  ");
  EXPECT_EQ(spaces(-1), "");
}

TEST(Wrap, BreaksAtSpaces) {
  EXPECT_THAT(wrap("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("one two", 7), ElementsAre("one two"));
  EXPECT_THAT(wrap("", 7), ElementsAre(""));
}

TEST(Wrap, BreaksWordsThatAreTooLong) {
  EXPECT_THAT(wrap("abcdefgh ij", 4), ElementsAre("abcd", "efgh", "ij"));
  EXPECT_THAT(wrap("漢字漢字", 5), ElementsAre("漢字", "漢字"));
}

TEST(Wrap, KeepsLineEndsAndIndents) {
  EXPECT_THAT(wrap("a\n\n  b c d\n", 5), ElementsAre("a", "", "  b c", "  d"));
}

TEST(Wrap, TerminatesWhereNothingFits) {
  EXPECT_THAT(wrap("漢字", 1), ElementsAre("漢", "字"));
}

TEST(FillLines, BreaksBetweenWords) {
  EXPECT_THAT(fill_lines("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(fill_lines("  one\n two ", 40), ElementsAre("one two"));
  EXPECT_THAT(fill_lines("incomprehensible a", 5), ElementsAre("incomprehensible", "a"));
  EXPECT_THAT(fill_lines("漢字 漢字", 8), ElementsAre("漢字", "漢字"));
  EXPECT_THAT(fill_lines("", 5), ElementsAre());
}

TEST(WrapCommand, StaysOneCommandForAShell) {
  EXPECT_THAT(wrap_command("run 09 --case \"4 ranks, uneven\" --seed 3", 24),
              ElementsAre("run 09 --case \\", "  \"4 ranks, uneven\" \\", "  --seed 3"));
  EXPECT_THAT(wrap_command("run 09", 6), ElementsAre("run 09"));
}

}  // namespace
}  // namespace shardlings

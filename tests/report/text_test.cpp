#include "report/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlings::report {
namespace {

using ::testing::ElementsAre;

TEST(Harmless, MakesControlCharactersVisible) {
  EXPECT_EQ(harmless("\x1b[31mred\x07", Charset::unicode), "\\x1b[31mred\\x07");
  EXPECT_EQ(harmless("a\rb", Charset::unicode), "a\\x0db");
  EXPECT_EQ(harmless("a\r\nb", Charset::unicode), "a\nb");
  EXPECT_EQ(harmless("\xc2\x9b", Charset::unicode), "\\u{9b}") << "CSI as one code point";
  EXPECT_EQ(harmless(std::string_view("\0", 1), Charset::unicode), "\\x00");
}

TEST(Harmless, MakesInvisibleAndTurningCharactersVisible) {
  EXPECT_EQ(harmless("a\xe2\x80\xae"
                     "b",
                     Charset::unicode),
            "a\\u{202e}b");
  EXPECT_EQ(harmless("\xef\xbb\xbf", Charset::unicode), "\\u{feff}");
}

TEST(Harmless, ShowsBrokenUtf8ByteByByte) {
  EXPECT_EQ(harmless("\xff", Charset::unicode), "\\xff");
  EXPECT_EQ(harmless("\xc0\xaf", Charset::unicode), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(harmless("\xed\xa0\x80", Charset::unicode), "\\xed\\xa0\\x80") << "surrogate";
  EXPECT_EQ(harmless("\xe6\xbc", Charset::unicode), "\\xe6\\xbc") << "cut off";
  EXPECT_EQ(harmless("\xf4\x90\x80\x80", Charset::unicode), "\\xf4\\x90\\x80\\x80") << "beyond the last code point";
}

TEST(Harmless, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(harmless("Grüße 漢字\n", Charset::unicode), "Grüße 漢字\n");
  EXPECT_EQ(harmless("Grüße", Charset::ascii), "Gr??e");
}

TEST(HarmlessLine, ShowsLineEnds) {
  EXPECT_EQ(harmless_line("a\nb", Charset::unicode), "a\\nb");
}

TEST(ColumnsOf, CountsWideAndCombiningCharacters) {
  EXPECT_EQ(columns_of("abc"), 3);
  EXPECT_EQ(columns_of("漢字"), 4);
  EXPECT_EQ(columns_of("e\xcc\x81"), 1);
  EXPECT_EQ(columns_of("█▒"), 2);
}

TEST(FirstColumns, NeverCutsACharacter) {
  EXPECT_EQ(first_columns("漢字", 3), "漢");
  EXPECT_EQ(first_columns("e\xcc\x81x", 1), "e\xcc\x81");
  EXPECT_EQ(first_columns("abc", 0), "");
}

TEST(Wrap, BreaksAtSpaces) {
  EXPECT_THAT(wrap("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("one two", 7), ElementsAre("one two"));
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

TEST(WrapCommand, StaysOneCommandForAShell) {
  EXPECT_THAT(wrap_command("run 09 --case \"4 ranks, uneven\" --seed 3", 24),
              ElementsAre("run 09 --case \\", "  \"4 ranks, uneven\" \\", "  --seed 3"));
  EXPECT_THAT(wrap_command("run 09", 6), ElementsAre("run 09"));
}

}  // namespace
}  // namespace shardlings::report

#include "report/harmless.h"

#include <gtest/gtest.h>

namespace shardlings::report {
namespace {

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

}  // namespace
}  // namespace shardlings::report

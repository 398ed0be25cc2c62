#include "cli/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlings::cli {
namespace {

using testing::ElementsAre;

constexpr const char* kRed = "\x1b[31mred\x1b[0m";

TEST(ShownWidth, CountsCharactersAndNoColours) {
  EXPECT_EQ(shown_width(""), 0);
  EXPECT_EQ(shown_width("abc"), 3);
  EXPECT_EQ(shown_width("✓ ≤ é"), 5);
  EXPECT_EQ(shown_width(kRed), 3);
}

TEST(Cut, KeepsWhatFitsAndMarksWhatDoesNot) {
  EXPECT_EQ(cut("abcde", 5), "abcde");
  EXPECT_EQ(cut("abcdef", 5), "abcd…");
  EXPECT_EQ(cut("✓✓✓✓", 3), "✓✓…");
}

TEST(Cut, EndsAColourThatItCuts) {
  EXPECT_EQ(cut(std::string(kRed) + "dish", 3), "\x1b[31mre…\x1b[0m");
  EXPECT_EQ(shown_width(cut(std::string(kRed) + "dish", 3)), 3);
}

TEST(Padded, FillsUpToTheWidth) {
  EXPECT_EQ(padded("✓", 3), "✓  ");
  EXPECT_EQ(padded("abcd", 3), "abcd");
}

TEST(Wrapped, BreaksBetweenWords) {
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("  one\n two ", 40), ElementsAre("one two"));
  EXPECT_THAT(wrapped("incomprehensible a", 5), ElementsAre("incomprehensible", "a"));
  EXPECT_THAT(wrapped("", 5), ElementsAre());
}

}  // namespace
}  // namespace shardlings::cli

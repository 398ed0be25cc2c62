#include "cli/terminal/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlings::cli {
namespace {

using testing::ElementsAre;

constexpr const char* kRed = "\x1b[31mred\x1b[0m";

TEST(ShownWidth, CountsCharactersAndNoColours) {
  EXPECT_EQ(terminal::shown_width(""), 0);
  EXPECT_EQ(terminal::shown_width("abc"), 3);
  EXPECT_EQ(terminal::shown_width("✓ ≤ é"), 5);
  EXPECT_EQ(terminal::shown_width(kRed), 3);
}

TEST(Cut, KeepsWhatFitsAndMarksWhatDoesNot) {
  EXPECT_EQ(terminal::cut("abcde", 5), "abcde");
  EXPECT_EQ(terminal::cut("abcdef", 5), "abcd…");
  EXPECT_EQ(terminal::cut("✓✓✓✓", 3), "✓✓…");
}

TEST(Cut, EndsAColourThatItCuts) {
  EXPECT_EQ(terminal::cut(std::string(kRed) + "dish", 3), "\x1b[31mre…\x1b[0m");
  EXPECT_EQ(terminal::shown_width(terminal::cut(std::string(kRed) + "dish", 3)), 3);
}

TEST(Padded, FillsUpToTheWidth) {
  EXPECT_EQ(terminal::padded("✓", 3), "✓  ");
  EXPECT_EQ(terminal::padded("abcd", 3), "abcd");
}

TEST(Wrapped, BreaksBetweenWords) {
  EXPECT_THAT(terminal::wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(terminal::wrapped("  one\n two ", 40), ElementsAre("one two"));
  EXPECT_THAT(terminal::wrapped("incomprehensible a", 5), ElementsAre("incomprehensible", "a"));
  EXPECT_THAT(terminal::wrapped("", 5), ElementsAre());
}

}  // namespace
}  // namespace shardlings::cli

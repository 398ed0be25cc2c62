#include "base/utf8.h"

#include <gtest/gtest.h>

#include <tuple>

namespace shardlings {
namespace {

TEST(FirstCharacter, IsDecoded) {
  for (const auto& [text, code, size] :
       {std::tuple{"a…", U'a', 1}, {"é!", U'é', 2}, {"漢", U'漢', 3}, {"🚀", U'🚀', 4}}) {
    const Character character = first_character(text);
    EXPECT_TRUE(character.valid) << text;
    EXPECT_EQ(character.code, code) << text;
    EXPECT_EQ(character.size, static_cast<std::size_t>(size)) << text;
  }
}

TEST(FirstCharacter, OfBrokenUtf8IsItsFirstByte) {
  for (const char* text :
       {"\xff", "\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xe6\xbc", "\xf4\x90\x80\x80"}) {
    const Character character = first_character(text);
    EXPECT_FALSE(character.valid) << text;
    EXPECT_EQ(character.code, static_cast<unsigned char>(text[0])) << text;
    EXPECT_EQ(character.size, 1U) << text;
  }
}

}  // namespace
}  // namespace shardlings

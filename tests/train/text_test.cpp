// A text as numbers, and stretches of it that do not depend on who trains on them.
#include "train/text.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace shardlings::train {
namespace {

TEST(TrainText, CharactersAreNumberedInTheirOrder) {
  const Text text("banana");
  EXPECT_EQ(text.vocabulary(), 3);
  EXPECT_EQ(text.size(), 6);
  EXPECT_EQ(text.id(0), 1);
  EXPECT_EQ(text.id(1), 0);
  EXPECT_EQ(text.id(2), 2);
  EXPECT_NE(text.hash(), Text("banana!").hash());
}

TEST(TrainText, TargetsFollowTheirInputs) {
  const Text text("abcdefghij");
  const Count s = 4, b = 3;
  const Tokens tokens = sequences(text, s, b, 17, 5);
  for (Count j = 0; j < b; ++j) {
    for (Count i = 0; i < s; ++i) {
      const auto at = static_cast<std::size_t>(i * b + j);
      EXPECT_EQ(tokens.targets[at], tokens.inputs[at] + 1);
      if (i > 0) {
        EXPECT_EQ(tokens.inputs[at], tokens.targets[at - static_cast<std::size_t>(b)]);
      }
    }
  }
}

TEST(TrainText, ASequenceDependsOnItsNumberOnly) {
  const Text text("The quick brown fox jumps over the lazy dog.");
  const Tokens all = sequences(text, 5, 6, 100, 7);
  for (Count j = 0; j < 6; ++j) {
    const Tokens one = sequences(text, 5, 1, static_cast<std::uint64_t>(100 + j), 7);
    for (Count i = 0; i < 5; ++i) {
      EXPECT_EQ(one.inputs[static_cast<std::size_t>(i)], all.inputs[static_cast<std::size_t>(i * 6 + j)]);
    }
  }
}

TEST(TrainText, EveryPlaceIsInside) {
  const Text text("abc");
  for (std::uint64_t n = 0; n < 50; ++n) {
    const Tokens tokens = sequences(text, 2, 1, n, 3);
    EXPECT_EQ(tokens.inputs, (std::vector<std::int32_t>{0, 1}));
    EXPECT_EQ(tokens.targets, (std::vector<std::int32_t>{1, 2}));
  }
}

TEST(TrainText, WhatCannotBeReadIsAnError) {
  EXPECT_THROW(Text::read("/no/such/file"), std::runtime_error);
}

}  // namespace
}  // namespace shardlings::train

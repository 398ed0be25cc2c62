#include "base/thrown_words.h"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace shardlings {
namespace {

std::string words_of(const std::function<void()>& body) {
  try {
    body();
  } catch (...) {
    return words_of_thrown();
  }
  return "nothing was thrown";
}

enum class Colour { red };

class Silent : public std::exception {
 public:
  const char* what() const noexcept override { return nullptr; }
};

TEST(ThrownWords, NameTypeAndValue) {
  EXPECT_EQ(words_of([] { throw 42; }), "the int 42");
  EXPECT_EQ(words_of([] { throw -1L; }), "the long -1");
  EXPECT_EQ(words_of([] { throw 0.5F; }), "the float 0.5");
  EXPECT_EQ(words_of([] { throw true; }), "the bool true");
  EXPECT_EQ(words_of([] { throw "no idea"; }), "the text 'no idea'");
  EXPECT_EQ(words_of([] { throw std::string("no idea"); }), "the text 'no idea'");
  EXPECT_EQ(words_of([] { throw std::out_of_range("vector"); }), "a std::out_of_range: vector");
  EXPECT_EQ(words_of([] { throw Colour::red; }), "a value of type shardlings::(anonymous namespace)::Colour");
}

TEST(ThrownWords, TellWhereThereAreNone) {
  EXPECT_EQ(words_of([] { throw Silent(); }),
            "a shardlings::(anonymous namespace)::Silent: its what() is a null pointer");
}

TEST(ThrownWords, OfAnotherProcessStayAsTheyCame) {
  EXPECT_EQ(words_of([] { throw ThrownElsewhere("the int 42"); }), "the int 42");
}

// Nobody promises that a text that is thrown has an end.
TEST(ThrownWords, AreShortWhereTheTextIsLong) {
  static const std::string kLong(10'000, 'x');
  EXPECT_EQ(words_of([] { throw kLong.c_str(); }).size(), std::string("the text ''").size() + 200);
}

}  // namespace
}  // namespace shardlings

#include "base/suggest.h"

#include <gmock/gmock.h>

namespace shardlings {
namespace {

using testing::ElementsAre;

TEST(EditDistance, CountsInsertionsDeletionsExchangesAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("hnit", "hint"), 1) << "neighbours in the wrong order are one slip";
  EXPECT_EQ(edit_distance("ca", "abc"), 3) << "no letter is moved twice";
}

TEST(NearNames, AreTheNearestFirstAndNoneThatIsFar) {
  EXPECT_THAT(near_names("lis", {"run", "list", "lists", "verify"}), ElementsAre("list"));
  EXPECT_THAT(near_names("hnit", {"run", "hint"}), ElementsAre("hint"));
  EXPECT_TRUE(near_names("xyzzy", {"run", "list"}).empty());
}

TEST(Suggestion, NamesTheNearestOrAllThatThereAre) {
  EXPECT_EQ(suggestion("rnaks", {"ranks", "seed"}), "; did you mean 'ranks'?");
  EXPECT_EQ(suggestion("zzzzzz", {"ranks", "seed"}), "; known are ranks, seed");
  EXPECT_EQ(suggestion("x", {}), "");
  EXPECT_EQ(suggestion("ab", {"cd", "seed"}), "; known are cd, seed") << "as far as can be";
}

TEST(DidYouMean, NamesAllThatAreNear) {
  EXPECT_EQ(did_you_mean("lis", {"run", "list", "lisp"}), " Did you mean lisp or list?");
  EXPECT_EQ(did_you_mean("xyzzy", {"run", "list"}), "");
}

}  // namespace
}  // namespace shardlings

#include "base/text.h"

#include <gmock/gmock.h>

namespace shardlings {
namespace {

TEST(Trimmed, HasNoWhiteSpaceAtItsEnds) {
  EXPECT_EQ(trimmed(" \t one two\r\n"), "one two");
  EXPECT_EQ(trimmed(" \n"), "");
}

TEST(BaseName, IsTheLastComponent) {
  EXPECT_EQ(base_name("a/b/puzzle.cpp"), "puzzle.cpp");
  EXPECT_EQ(base_name("puzzle.cpp"), "puzzle.cpp");
  EXPECT_EQ(base_name("a/"), "");
}

TEST(ToText, OfALocation) {
  EXPECT_EQ(to_text(Location{"a/puzzle.cpp", 31}), "puzzle.cpp:31");
  EXPECT_EQ(to_text(Location{}), "somewhere");
}

TEST(ToText, OfAShape) {
  EXPECT_EQ(to_text(Shape{4, 8}), "(4, 8)");
  EXPECT_EQ(to_text(Shape{}), "()");
}

TEST(ToText, OfBytesIsShortAndExact) {
  EXPECT_EQ(to_text(Bytes(96)), "96 B");
  EXPECT_EQ(to_text(Bytes(1536)), "1.5 KiB (1536 B)");
  EXPECT_EQ(to_text(Bytes(Count{3} << 40)), "3 TiB (3298534883328 B)");
}

TEST(ToText, OfATime) {
  EXPECT_EQ(to_text(Nanos(300)), "300 ns");
  EXPECT_EQ(to_text(Nanos(1250000)), "1.25 ms");
}

TEST(ListOfRanks, JoinsFourAndMoreInARow) {
  EXPECT_EQ(list_of_ranks({0, 1, 3}), "0, 1, 3");
  EXPECT_EQ(list_of_ranks({0, 1, 2, 3, 5}), "0-3, 5");
  EXPECT_EQ(list_of_ranks({}), "");
}

TEST(RanksText, SaysHowMany) {
  EXPECT_EQ(ranks_text({2}), "rank 2");
  EXPECT_EQ(ranks_text({0, 1, 3}), "ranks 0, 1, 3");
  std::vector<int> many;
  for (int rank = 0; rank < 4096; ++rank) {
    if (rank % 128 < 6) many.push_back(rank);
  }
  EXPECT_EQ(list_of_ranks(many).substr(0, 20), "0-5, 128-133, 256-26");
  EXPECT_EQ(ranks_text(many), "ranks 0-5, 128-133, 256-261, 384-389, 512-517, 640-645, 768-773 and 150 more");
}

TEST(Lines, EndWithOrWithoutALineEnd) {
  EXPECT_THAT(lines_of("a\n\nb"), testing::ElementsAre("a", "", "b"));
  EXPECT_THAT(lines_of("a\n"), testing::ElementsAre("a"));
  EXPECT_TRUE(lines_of("").empty());
}

TEST(LengthOfPlace, IsThatOfFileLineAndColumn) {
  EXPECT_EQ(length_of_place("puzzle.cpp:31:5: error: no"), std::string("puzzle.cpp:31:5: ").size());
  EXPECT_EQ(length_of_place("../a/b.cpp:1:10: "), 17U);
  EXPECT_EQ(length_of_place("/my course/b.cpp:1:2: x"), 22U);
  for (const char* none :
       {"", ":", ":1:2: x", "c++: error: no", "a.cpp: 1:2: x", "    3 | a.cpp:1:2: x", "a.cpp:31: error",
        "a.cpp:31:5:x", "a.cpp:31:5:", "a.cpp:31:", "a.cpp:x:5: ", "a.cpp", "a.cpp:31:5"}) {
    EXPECT_EQ(length_of_place(none), 0U) << none;
  }
}

}  // namespace
}  // namespace shardlings

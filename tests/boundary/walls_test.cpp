#include "boundary/walls.h"

#include <gtest/gtest.h>

namespace shardlings::boundary {
namespace {

const Walls kAll{true, true, true, true, true, true, true, true, true};

TEST(Walls, AreReadFromTheirOwnWords) {
  EXPECT_EQ(walls_of(words_of(kAll)), kAll);
  const Walls some{.own_process = true, .system_calls = true};
  EXPECT_EQ(walls_of(words_of(some)), some);
  EXPECT_EQ(words_of(some), (std::vector<std::string>{"own process", "few system calls"}));
  EXPECT_EQ(walls_of({"a moat"}), Walls());
}

TEST(Walls, AreOfATierOnlyIfNoneOfItIsMissing) {
  EXPECT_EQ(kAll.tier(), 2);
  for (bool Walls::*wall : {&Walls::namespaces, &Walls::cgroup}) {
    Walls without = kAll;
    without.*wall = false;
    EXPECT_EQ(without.tier(), 1);
  }
  for (bool Walls::*wall :
       {&Walls::own_process, &Walls::own_user, &Walls::no_privileges, &Walls::system_calls, &Walls::limits}) {
    Walls without = kAll;
    without.*wall = false;
    EXPECT_EQ(without.tier(), 0);
  }
}

TEST(Walls, OfSeveralAreThoseThatAllHave) {
  Walls without = kAll;
  without.no_clocks = false;
  EXPECT_EQ(common(kAll, without), without);
  EXPECT_EQ(common(kAll, Walls()), Walls());
}

}  // namespace
}  // namespace shardlings::boundary

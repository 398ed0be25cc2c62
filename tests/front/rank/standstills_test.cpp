#include "front/rank/standstills.h"

#include <gtest/gtest.h>

namespace shardlings::front {
namespace {

Standstills noted() {
  Standstills all;
  all.remember();
  all.note(Nanos(10), Nanos(20));
  all.note(Nanos(20), Nanos(25));
  all.note(Nanos(30), Nanos(30));
  all.note(Nanos(40), Nanos(50));
  return all;
}

TEST(Standstills, AreCutToTheTimeThatIsAskedFor) {
  const Standstills all = noted();
  EXPECT_EQ(all.within(Nanos(0), Nanos(100)), Nanos(25));
  EXPECT_EQ(all.within(Nanos(12), Nanos(22)), Nanos(10));
  EXPECT_EQ(all.within(Nanos(22), Nanos(45)), Nanos(8));
  EXPECT_EQ(all.within(Nanos(25), Nanos(40)), Nanos(0));
  EXPECT_EQ(all.within(Nanos(60), Nanos(50)), Nanos(0));
}

TEST(Standstills, AreKeptWhereTheyReachIntoWhatIsStillOfInterest) {
  Standstills all = noted();
  all.forget_before(Nanos(22));
  EXPECT_EQ(all.within(Nanos(22), Nanos(100)), Nanos(13));
  EXPECT_EQ(all.size(), 2U);
  all.forget_before(Nanos(25));
  EXPECT_EQ(all.size(), 1U);
}

TEST(Standstills, AreNotNotedWhileNothingIsUnderWay) {
  Standstills all = noted();
  all.forget_all();
  all.note(Nanos(60), Nanos(70));
  EXPECT_EQ(all.size(), 0U);
}

}  // namespace
}  // namespace shardlings::front

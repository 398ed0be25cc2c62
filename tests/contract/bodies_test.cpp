// What a body expects is expected by the test that runs it, on every kind of world, and so in whatever process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <set>

#include "contract/on_every_world.h"
#include "support/child_failures.h"
#include "support/forked_world.h"

namespace shardlings::contract {
namespace {

using support::ChildFailure;
using testing::AllOf;
using testing::EndsWith;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// The whole run is in a process of its own, in which all may fail.
class Bodies : public OnEveryWorld {
 protected:
  void SetUp() override {
    OnEveryWorld::SetUp();
    const std::string name = GetParam().name;
    if (name == "cuda" || name == "mpi") GTEST_SKIP() << "a forked process has no use of its parent's " << name;
  }
  std::vector<ChildFailure> found(const support::Body& body) const {
    return support::failures_in_child([&] { support::run_well(GetParam(), support::options_for(3), {1, 50}, body); });
  }
};

auto is_failure(const std::string& message) {
  return AllOf(Field(&ChildFailure::file, EndsWith("bodies_test.cpp")), Field(&ChildFailure::line, testing::Gt(0)),
               Field(&ChildFailure::message, HasSubstr(message)));
}

TEST_P(Bodies, FailTheTestByWhatTheyExpectInVain) {
  EXPECT_THAT(found([](Rank& rank) {
                rank.world().barrier();
                EXPECT_EQ(rank.id(), 1) << "of rank " << rank.id();
                EXPECT_LT(rank.id(), 3) << "that holds";
              }),
              UnorderedElementsAre(is_failure("of rank 0"), is_failure("of rank 2")));
}

TEST_P(Bodies, FailNoTestThatIsRight) {
  EXPECT_THAT(found([](Rank& rank) { EXPECT_EQ(rank.world().rank(), rank.id()); }), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(World, Bodies, testing::ValuesIn(support::world_kinds()), name_of_world);

TEST(ForkedWorld, TellsWhatItHasFoundBeforeItDied) {
  const auto found = support::failures_in_child([] {
    support::run_forked_world(support::options_for(2), 2, [](Rank& rank) {
      if (rank.id() == 0) return;
      ADD_FAILURE() << "its last words";
      raise(SIGKILL);
    });
  });
  EXPECT_THAT(found, UnorderedElementsAre(is_failure("its last words")));
}

}  // namespace
}  // namespace shardlings::contract

// What a program reads in a simulation: the numbers that a harness has said, in their order.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "submission/harness.h"
#include "world/use_backend.h"
#include "world/world.h"

namespace shardlings::grading {
namespace {

TEST(HarnessScript, IsReadWhereNothingIsComputed) {
  const cases::Case kase;
  std::vector<float> read;
  const auto body = [&](Rank& rank) {
    submission::Harness harness(rank, kase);
    harness.script_reads({7, 8});
    const Tensor two = harness.ids({3, 4}, Kind::other);
    read = {rank.read(two.part({0, 1})), rank.read(two.part({1, 2}))};
    EXPECT_EQ(two.dtype(), DType::i32);
  };
  ASSERT_FALSE(world::run({}, body).failure);
  EXPECT_EQ(read, (std::vector<float>{3, 4})) << "what was computed";
  world::Options options;
  use_backend(options, world::Backend::dry);
  const front::RunReport dry = world::run(options, body);
  ASSERT_FALSE(dry.failure) << dry.failure->message;
  EXPECT_EQ(read, (std::vector<float>{7, 8}));
  EXPECT_EQ(dry.ranks[0].counters.host_reads, 2);
  const front::RunReport more = world::run(options, [&](Rank& rank) {
    body(rank);
    static_cast<void>(rank.read(rank.zeros(1, Kind::other)));
  });
  ASSERT_TRUE(more.failure);
  EXPECT_NE(more.failure->message.find("a simulation computes no numbers"), std::string::npos);
}

TEST(HarnessScript, IsReadByPlaceFromTensorsOfAsManyNumbers) {
  const cases::Case kase;
  std::vector<float> read;
  world::Options options;
  use_backend(options, world::Backend::dry);
  const front::RunReport dry = world::run(options, [&](Rank& rank) {
    submission::Harness harness(rank, kase);
    harness.script_reads({7, 8, 9});
    const Tensor as_many = rank.zeros(3, Kind::other), more = rank.zeros(4, Kind::other);
    for (const Count i : {3, 1}) read.push_back(rank.read(more.part({i, i + 1})));
    for (const Count i : {2, 0}) read.push_back(rank.read(as_many.part({i, i + 1})));
  });
  ASSERT_FALSE(dry.failure) << dry.failure->message;
  EXPECT_EQ(read, (std::vector<float>{7, 8, 9, 7})) << "one after another, and then those at the places";
}

}  // namespace
}  // namespace shardlings::grading

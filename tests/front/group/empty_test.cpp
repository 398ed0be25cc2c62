// A tensor without elements may be a rank's part; no tensor at all is a mistake, in collectives and messages as
// everywhere else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "shardlings/puzzle.h"
#include "world/world.h"

namespace shardlings {
namespace {

using ::testing::HasSubstr;

/// What ends a run of two ranks; empty if nothing does.
std::string failure_of(const std::function<void(Rank&)>& body) {
  world::Options options;
  options.ranks = 2;
  const front::RunReport report = world::run(options, body);
  if (!report.failure) return "";
  EXPECT_EQ(report.failure->kind, front::FailureKind::invalid_argument) << report.failure->message;
  EXPECT_EQ(report.failure->file, "empty_test.cpp");
  return report.failure->message;
}

struct Attempt {
  const char* name;
  const char* lacks;  ///< the argument
  void (*call)(Group& world, View there, View none);
};

TEST(EmptyTensors, AreRefusedByCollectivesAndMessages) {
  const std::vector<Attempt> attempts = {
      {"all_reduce", "data", [](Group& w, View, View none) { w.all_reduce(none, ReduceOp::sum); }},
      {"all_reduce", "data", [](Group& w, View, View none) { w.all_reduce_async(none, ReduceOp::sum).wait(); }},
      {"reduce_scatter", "in", [](Group& w, View x, View none) { w.reduce_scatter(none, x, ReduceOp::sum); }},
      {"reduce_scatter", "out", [](Group& w, View x, View none) { w.reduce_scatter(x, none, ReduceOp::sum); }},
      {"all_gather", "in", [](Group& w, View x, View none) { w.all_gather(none, x); }},
      {"all_gather", "out", [](Group& w, View x, View none) { w.all_gather(x, none); }},
      {"broadcast", "data", [](Group& w, View, View none) { w.broadcast(none, 0); }},
      {"reduce", "data", [](Group& w, View, View none) { w.reduce(none, ReduceOp::sum, 0); }},
      {"gather", "in", [](Group& w, View, View none) { w.gather(none, none, 0); }},
      {"gather", "out", [](Group& w, View x, View none) { w.gather(x, none, w.rank()); }},
      {"scatter", "out", [](Group& w, View x, View none) { w.scatter(x, none, 0); }},
      {"scatter", "in", [](Group& w, View x, View none) { w.scatter(none, x, w.rank()); }},
      {"all_to_all", "in", [](Group& w, View x, View none) { w.all_to_all(none, x); }},
      {"all_to_all", "out", [](Group& w, View x, View none) { w.all_to_all(x, none); }},
      {"send", "data", [](Group& w, View, View none) { w.send(none, 1 - w.rank()); }},
      {"send", "data", [](Group& w, View, View none) { w.send_async(none, 1 - w.rank()).wait(); }},
      {"recv", "data", [](Group& w, View, View none) { w.recv(none, 1 - w.rank()); }},
      {"send_recv", "out", [](Group& w, View x, View none) { w.send_recv(none, 1 - w.rank(), x, 1 - w.rank()); }},
      {"send_recv", "in", [](Group& w, View x, View none) { w.send_recv(x, 1 - w.rank(), none, 1 - w.rank()); }},
  };
  for (const Attempt& attempt : attempts) {
    const std::string expected =
        std::string(attempt.name) + ": `" + attempt.lacks + "` is empty (moved from, or never allocated)";
    EXPECT_THAT(failure_of([&](Rank& rank) {
                  Tensor there = rank.zeros(4, Kind::other), moved = rank.zeros(4, Kind::other);
                  const Tensor elsewhere = std::move(moved);
                  attempt.call(rank.world(), there, moved);  // NOLINT(bugprone-use-after-move): that is the mistake
                }),
                HasSubstr(expected));
    EXPECT_THAT(failure_of([&](Rank& rank) { attempt.call(rank.world(), rank.zeros(4, Kind::other), {}); }),
                HasSubstr(expected));
  }
}

TEST(EmptyTensors, OfSizeZeroAreParts) {
  EXPECT_EQ(failure_of([](Rank& rank) {
              Group& world = rank.world();
              const int other = 1 - world.rank();
              const bool first = world.rank() == 0;  // it has the one element, and the other rank has none
              Tensor whole = rank.zeros(1, Kind::other), mine = rank.zeros(first ? 1 : 0, Kind::other);
              Tensor none = rank.zeros(0, Kind::other), same = rank.zeros(0, Kind::other);
              world.all_reduce(none, ReduceOp::sum);
              world.reduce_scatter(whole, mine, ReduceOp::sum);
              world.reduce_scatter(whole, whole.part(world.mine(1)), ReduceOp::sum);
              world.all_gather(mine, whole);
              world.broadcast(none, 1);
              world.reduce(none, ReduceOp::sum, 1);
              world.gather(mine, first ? View(whole) : View(), 0);
              world.scatter(first ? View(whole) : View(), mine, 0);
              world.all_to_all(none, same);
              world.send_recv(none, other, same, other);
            }),
            "");
}

TEST(EmptyTensors, MayBeForNobody) {
  EXPECT_EQ(failure_of([](Rank& rank) {
              Group& world = rank.world();
              Tensor there = rank.zeros(4, Kind::other);
              world.send({}, kNobody);
              world.recv({}, kNobody);
              world.send_async({}, kNobody).wait();
              if (world.rank() == 0) world.send_recv(there, 1, {}, kNobody);
              if (world.rank() == 1) world.send_recv({}, kNobody, there, 0);
            }),
            "");
}

}  // namespace
}  // namespace shardlings

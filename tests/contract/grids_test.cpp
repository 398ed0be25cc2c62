// Process grids: who is beside whom along each axis and across several, on every kind of world; and wrong grids.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "contract/on_every_world.h"
#include "shardlings/grid.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using front::RunReport;
using support::load;
using support::publish;
using support::published;

/// Sizes of the axes "a", "b" and "c".
using Sizes = std::vector<int>;

/// All boxes of three axes with so many cells.
std::vector<Sizes> boxes_of(int cells) {
  std::vector<Sizes> boxes;
  for (int a = 1; a <= cells; ++a) {
    for (int b = 1; a * b <= cells; ++b) {
      if (cells % (a * b) == 0) boxes.push_back({a, b, cells / a / b});
    }
  }
  return boxes;
}

/// Coordinates of all ranks, counted up like an odometer: the last one turns fastest.
std::vector<Sizes> coordinates_in(const Sizes& box) {
  std::vector<Sizes> all;
  for (int a = 0; a < box[0]; ++a) {
    for (int b = 0; b < box[1]; ++b) {
      for (int c = 0; c < box[2]; ++c) all.push_back({a, b, c});
    }
  }
  return all;
}

/// Ranks that agree with `rank` in all axes that are not in `free`.
std::vector<float> beside(const std::vector<Sizes>& at, int rank, const std::string& free) {
  std::vector<float> members;
  for (std::size_t other = 0; other < at.size(); ++other) {
    bool agrees = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool is_free = free.find("abc"[axis]) != std::string::npos;
      agrees = agrees && (is_free || at[other][axis] == at[static_cast<std::size_t>(rank)][axis]);
    }
    if (agrees) members.push_back(static_cast<float>(other));
  }
  return members;
}

Grid grid_of(Rank& rank, const Sizes& box) {
  return {rank.world(), {{"a", box[0]}, {"b", box[1]}, {"c", box[2]}}};
}

void publish_members(Rank& rank, Group group, const std::string& name) {
  Tensor members = rank.zeros(group.size(), Kind::other);
  group.all_gather(load(rank, {static_cast<float>(rank.id())}), members);
  publish(rank, name, members);
}

void publish_grid(Rank& rank, const Sizes& box) {
  const Grid grid = grid_of(rank, box);
  for (const char* axis : {"a", "b", "c"}) {
    const Group group = grid.along(axis);
    publish_members(rank, group, axis);
    publish(rank, std::string("coordinate ") + axis, load(rank, {static_cast<float>(grid.coordinate(axis))}));
    EXPECT_EQ(group.rank(), grid.coordinate(axis));
    EXPECT_EQ(group.size(), grid.size(axis));
  }
  publish_members(rank, grid.across({"a", "c"}), "ac");
  publish_members(rank, grid.across({"c", "b"}), "bc");  // whatever the order of the names
  publish_members(rank, grid.across({"a", "b", "c"}), "abc");
  publish_members(rank, grid.across({"b"}), "b again");
}

class Grids : public OnEveryWorld {};

TEST_P(Grids, EveryBoxUpToNineRanks) {
  for (int ranks = least(1); ranks <= most(9); ++ranks) {
    for (const Sizes& box : boxes_of(ranks)) {
      SCOPED_TRACE(testing::PrintToString(box));
      const RunReport report = run(ranks, [&](Rank& rank) { publish_grid(rank, box); });
      const std::vector<Sizes> at = coordinates_in(box);
      for (int rank = 0; rank < ranks; ++rank) {
        for (const std::string axes : {"a", "b", "c", "ac", "bc", "abc"}) {
          EXPECT_EQ(published(report, rank, axes), beside(at, rank, axes)) << axes << " of rank " << rank;
        }
        EXPECT_EQ(published(report, rank, "b again"), beside(at, rank, "b"));
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const std::string name = std::string("coordinate ") + "abc"[axis];
          EXPECT_EQ(published(report, rank, name)[0], static_cast<float>(at[static_cast<std::size_t>(rank)][axis]));
        }
      }
    }
  }
}

// A grid is made of any group: here of every second rank, whose numbers in the world do not follow one another.
TEST_P(Grids, OfAGroup) {
  if (!supports(8)) GTEST_SKIP() << lacks(8);
  const RunReport report = run(8, [](Rank& rank) {
    const Group half = rank.world().split(rank.id() % 2, 0);
    const Grid grid(half, {{"outer", 2}, {"inner", 2}});
    publish_members(rank, grid.along("inner"), "inner");
    publish_members(rank, grid.along("outer"), "outer");
    publish_members(rank, grid.all(), "all");
  });
  EXPECT_EQ(published(report, 4, "inner"), std::vector<float>({4, 6}));
  EXPECT_EQ(published(report, 3, "outer"), std::vector<float>({3, 7}));
  EXPECT_EQ(published(report, 5, "all"), std::vector<float>({1, 3, 5, 7}));
}

INSTANTIATE_TEST_SUITE_P(World, Grids, testing::ValuesIn(support::world_kinds()), name_of_world);

/// On threads with CPU devices.
RunReport run_plainly(int ranks, const support::Body& body) {
  world::Options options = support::options_for(ranks);
  return world::run(options, body);
}

TEST(Grid, CostsNoMemoryNoBytesAndNoTime) {
  const RunReport report = run_plainly(8, [](Rank& rank) {
    const Grid grid(rank.world(), {{"data", 4}, {"tensor", 2}});
    (void)grid.across({"data", "tensor"});
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  for (const front::RankReport& rank : report.ranks) {
    EXPECT_EQ(rank.counters.peak.value(), 0);
    EXPECT_EQ(rank.counters.bytes_sent().value(), 0);
    EXPECT_EQ(rank.counters.end.value(), 0);
  }
}

TEST(Grid, GroupsHaveTheNamesOfTheirAxes) {
  const RunReport report = run_plainly(4, [](Rank& rank) {
    const Grid grid(rank.world(), {{"data", 2}, {"tensor", 2}});
    Tensor number = rank.zeros(1, Kind::other);
    grid.along("tensor").all_reduce(number, ReduceOp::sum);
    grid.across({"tensor", "data"}).all_reduce(number, ReduceOp::sum);
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  const std::vector<std::string>& groups = report.ranks[0].trace.groups;
  for (const std::string name : {"tensor", "data x tensor"}) {
    EXPECT_NE(std::find(groups.begin(), groups.end(), name), groups.end()) << name;
  }
}

/// What a run of one or more ranks is told.
std::string message_of(int ranks, const support::Body& body) {
  const RunReport report = run_plainly(ranks, body);
  return report.failure ? report.failure->message : "";
}

TEST(Grid, SaysWhatIsWrong) {
  const auto grid = [](std::initializer_list<Axis> axes) {
    return message_of(6, [axes](Rank& rank) { Grid wrong(rank.world(), axes); });
  };
  const auto expect = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find("grids_test.cpp:"), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(grid({{"data", 2}, {"tensor", 4}}),
         "grid data 2 x tensor 4: the sizes multiply to 8, but the group has 6 ranks: they must be equal");
  expect(grid({{"data", 1 << 20}, {"tensor", 1 << 20}, {"pipeline", 1 << 30}}), "the sizes multiply to 2147483648");
  expect(grid({{"data", -2}, {"tensor", -3}}), "axis \"data\" needs a size of 1 or more");
  expect(grid({{"data", 2}, {"data", 3}}), "grid data 2 x data 3: axis \"data\" is there twice");
  expect(grid({{"", 6}}), "an axis has no name");
  expect(grid({}), "grid without axes: the sizes multiply to 1");
}

TEST(Grid, SaysWhatIsWrongWithNames) {
  const auto use = [](auto call) {
    return message_of(6, [call](Rank& rank) { call(Grid(rank.world(), {{"data", 2}, {"tensor", 3}})); });
  };
  const auto expect = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  const std::string unknown = "there is no axis \"tensr\" in grid data 2 x tensor 3";
  expect(use([](const Grid& grid) { (void)grid.along("tensr"); }), unknown);
  expect(use([](const Grid& grid) { (void)grid.size("tensr"); }), unknown);
  expect(use([](const Grid& grid) { (void)grid.coordinate("tensr"); }), unknown);
  expect(use([](const Grid& grid) { (void)grid.across({"data", "tensr"}); }), unknown);
  expect(use([](const Grid& grid) { (void)grid.across({"data", "data"}); }), "\"data\" is there twice");
  expect(use([](const Grid& grid) { (void)grid.across({}); }), "names none");
  expect(message_of(1, [](Rank&) { (void)Grid().along("data"); }), "there is no axis \"data\" in grid without axes");
}

}  // namespace
}  // namespace shardlings::contract

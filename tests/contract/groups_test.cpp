// Subgroups: who is in them, in which order, and that they do not get in one another's way.
#include <gtest/gtest.h>

#include "contract/collective_case.h"
#include "contract/on_every_world.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using front::RunReport;
using support::load;
using support::publish;
using support::published;

class Groups : public OnEveryWorld {};

/// Publishes size, own rank and who the members are, in order.
void publish_group(Rank& rank, Group group, const std::string& name) {
  publish(rank, name + ".place", load(rank, {static_cast<float>(group.size()), static_cast<float>(group.rank())}));
  if (!group) return;
  Tensor members = rank.zeros(group.size(), Kind::other);
  group.all_gather(load(rank, {static_cast<float>(rank.id())}), members);
  publish(rank, name + ".members", members);
}

void expect_group(const RunReport& report, const std::string& name, const std::vector<int>& members) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::vector<float> place = {static_cast<float>(members.size()), static_cast<float>(i)};
    EXPECT_EQ(published(report, members[i], name + ".place"), place) << name;
    EXPECT_EQ(published(report, members[i], name + ".members"), std::vector<float>(members.begin(), members.end()))
        << name;
  }
}

TEST_P(Groups, AreMadeByColorAndOrderedByKey) {
  for (int ranks = least(2); ranks <= most(9); ++ranks) {
    const RunReport report = run(ranks, [](Rank& rank) {
      publish_group(rank, rank.world().split(rank.id() % 2, rank.id()), "even and odd");
      publish_group(rank, rank.world().split(0, -rank.id()), "reversed");
      publish_group(rank, rank.world().split(rank.id(), 0), "alone");
      publish_group(rank, rank.world().split(7, 1), "equal keys");
    });
    std::vector<int> even_and_odd[2], forward, backward;
    for (int r = 0; r < ranks; ++r) {
      even_and_odd[r % 2].push_back(r);
      forward.push_back(r);
      backward.insert(backward.begin(), r);
      expect_group(report, "alone", {r});
    }
    expect_group(report, "even and odd", even_and_odd[0]);
    expect_group(report, "even and odd", even_and_odd[1]);
    expect_group(report, "reversed", backward);
    expect_group(report, "equal keys", forward);
  }
}

TEST_P(Groups, WithoutSomebody) {
  for (int ranks = least(2); ranks <= most(5); ++ranks) {
    const RunReport report = run(ranks, [](Rank& rank) {
      const Group some = rank.world().split(rank.id() == 0 ? kNobody : 3, 0);
      publish_group(rank, some, "some");
      const Group nobody = rank.world().split(kNobody, 0);
      publish_group(rank, nobody, "nobody");
    });
    std::vector<int> others;
    for (int r = 1; r < ranks; ++r) others.push_back(r);
    expect_group(report, "some", others);
    EXPECT_EQ(published(report, 0, "some.place"), std::vector<float>({0, 0}));
    EXPECT_EQ(published(report, 1, "nobody.place"), std::vector<float>({0, 0}));
  }
}

TEST_P(Groups, OfGroups) {
  for (const int ranks : possible({4, 8})) {
    const RunReport report = run(ranks, [ranks](Rank& rank) {
      Group half = rank.world().split(rank.id() / (ranks / 2), 0, "half");
      Group pair = half.split(half.rank() / 2, -half.rank(), "pair");
      publish_group(rank, half, "half");
      publish_group(rank, pair, "pair");
    });
    for (int first = 0; first < ranks; first += 2) expect_group(report, "pair", {first + 1, first});
    if (ranks == 8) expect_group(report, "half", {4, 5, 6, 7});
  }
}

// A grid: every collective of every row and column, in turns with the world's, in place and apart.
TEST_P(Groups, DoTheirCollectivesBesideOneAnother) {
  for (const int ranks : possible({4, 6})) {
    const std::vector<CollectiveCase> cases = all_cases({7}, 2);
    const RunReport report = run(ranks, [&](Rank& rank) {
      Group row = rank.world().split(rank.id() / 2, -rank.id());
      Group column = rank.world().split(rank.id() % 2, 0);
      for (const CollectiveCase& c : cases) {
        run_case(rank, row, c, "row: " + c.name());
        rank.world().barrier();
        column.barrier();
      }
    });
    for (const CollectiveCase& c : cases) {
      const auto expected = expected_of(c, 2);
      for (int r = 0; r < ranks; ++r) {
        const int in_row = 1 - r % 2;
        if (c.kind == Collective::gather && in_row != c.root) continue;
        support::expect_values(published(report, r, "row: " + c.name()), expected[static_cast<std::size_t>(in_row)],
                               c.name(), GetParam().equality);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(World, Groups, testing::ValuesIn(support::world_kinds()), name_of_world);

}  // namespace
}  // namespace shardlings::contract

#include "front/group/splitting.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include "shardlings/group.h"

namespace shardlings::front {
namespace {

const CallRecord& record_of(const Meeting& split, int member) {
  return split.records[static_cast<std::size_t>(member)];
}

/// Members that want to be in a group, in the order of colors and, within one, of their ranks in it.
std::vector<int> in_order(const Meeting& split) {
  std::vector<int> joining;
  for (int m = 0; m < split.members(); ++m) {
    if (record_of(split, m).color != kNobody) joining.push_back(m);
  }
  const auto key = [&](int m) { return std::tuple(record_of(split, m).color, record_of(split, m).key, m); };
  std::sort(joining.begin(), joining.end(), [&](int a, int b) { return key(a) < key(b); });
  return joining;
}

GroupInfo info_of(const Meeting& split, const std::vector<int>& members, const CostModel& costs) {
  const CallRecord& first = record_of(split, members.front());
  GroupInfo info;
  info.name = !first.name.empty() ? std::string(first.name)
                                  : fmt::format("{}.split{}/{}", split.group->name, split.number, first.color);
  info.number = first.groups;
  std::vector<int> ranks;
  ranks.reserve(members.size());
  for (const int member : members) ranks.push_back(split.rank_of(member));
  info.placement = placement_of(ranks, costs);
  info.members = std::make_shared<const std::vector<int>>(std::move(ranks));
  return info;
}

}  // namespace

std::vector<NewGroup> groups_of_split(const Meeting& split, const CostModel& costs) {
  const std::vector<int> joining = in_order(split);
  std::vector<NewGroup> groups;
  for (auto begin = joining.begin(); begin != joining.end();) {
    const std::int32_t color = record_of(split, *begin).color;
    const auto end = std::find_if(begin, joining.end(), [&](int m) { return record_of(split, m).color != color; });
    NewGroup group;
    group.members.assign(begin, end);
    group.info = info_of(split, group.members, costs);
    groups.push_back(std::move(group));
    begin = end;
  }
  return groups;
}

GroupInfo world_of(int ranks, const CostModel& costs) {
  GroupInfo world;
  world.name = "world";
  std::vector<int> members(static_cast<std::size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  world.placement = placement_of(members, costs);
  world.members = std::make_shared<const std::vector<int>>(std::move(members));
  world.running = ranks;
  return world;
}

}  // namespace shardlings::front

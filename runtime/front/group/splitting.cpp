// Dividing a group: what the last poster of a split does for all of them.
#include <fmt/format.h>

#include <algorithm>

#include "front/group/shared_control.h"
#include "shardlings/group.h"

namespace shardlings::front {

void SharedControl::make_groups(Meeting* meeting) {
  struct Joining {
    std::int32_t color, key;
    int member;
  };
  std::vector<Joining> joining;
  for (int m = 0; m < meeting->members(); ++m) {
    const CallRecord& record = meeting->records[static_cast<std::size_t>(m)];
    if (record.color != kNobody) joining.push_back({record.color, record.key, m});
  }
  std::sort(joining.begin(), joining.end(), [](const Joining& a, const Joining& b) {
    return std::tie(a.color, a.key, a.member) < std::tie(b.color, b.key, b.member);
  });
  meeting->split.assign(static_cast<std::size_t>(meeting->members()), nullptr);
  const std::lock_guard guard(tables_);
  for (std::size_t begin = 0; begin < joining.size();) {
    auto made = std::make_unique<GroupInfo>();
    made->id = static_cast<std::uint32_t>(groups_.size());
    const CallRecord& first = meeting->records[static_cast<std::size_t>(joining[begin].member)];
    made->name = !first.name.empty() ? first.name
                                     : fmt::format("{}.split{}/{}", meeting->group->name, meeting->number, first.color);
    std::size_t end = begin;
    for (; end < joining.size() && joining[end].color == first.color; ++end) {
      made->members.push_back(meeting->rank_of(joining[end].member));
      meeting->split[static_cast<std::size_t>(joining[end].member)] = made.get();
    }
    const auto node = [&](int rank) { return costs_.node_of(rank); };
    const bool one_node = std::all_of(made->members.begin(), made->members.end(),
                                      [&](int rank) { return node(rank) == node(made->members[0]); });
    made->link = one_node ? Link::intra_node : Link::inter_node;
    groups_.push_back(std::move(made));
    begin = end;
  }
}

SplitOutcome SharedControl::wait_split(int rank, Ticket ticket, Location at) {
  auto* meeting = reinterpret_cast<Meeting*>(ticket);
  const int member = meeting->member_of(rank);
  wait_for(rank, meeting, member, at);
  const GroupInfo* made = meeting->split[static_cast<std::size_t>(member)];
  SplitOutcome result{{meeting->start, meeting->end, {}}, made ? std::optional(*made) : std::nullopt};
  unref(rank, meeting);
  return result;
}

}  // namespace shardlings::front

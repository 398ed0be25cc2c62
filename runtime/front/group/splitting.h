/// \file
/// Dividing a group: what the last poster of a split does for all of them.
#pragma once

#include <vector>

#include "front/clock/cost.h"
#include "front/group/meeting.h"

namespace shardlings::front {

/// A group to be, and who is in it.
struct NewGroup {
  GroupInfo info;
  std::vector<int> members;  ///< by rank in the new group: the member of the old one
};

/// The groups that a split makes, by color. O(n log n) for n members.
std::vector<NewGroup> groups_of_split(const Meeting& split, const CostModel& costs);

/// The group that every rank is in from the start.
GroupInfo world_of(int ranks, const CostModel& costs);

}  // namespace shardlings::front

/// \file
/// Which members of a group share a node, and what of their bytes leaves it.
#pragma once

#include <cstdint>
#include <vector>

#include "front/clock/cost.h"
#include "front/clock/spread.h"
#include "front/group/ring_traffic.h"

namespace shardlings::front {

/// Of a group on one node only the spread is kept: nothing leaves it.
struct Placement {
  struct Place {
    std::int32_t node = 0;    ///< index into `nodes`
    std::int32_t number = 0;  ///< of the member among those of its node
  };
  Spread spread;
  std::vector<Place> places;            ///< by member
  std::vector<std::vector<int>> nodes;  ///< their members, in the order in which each has its first
};

/// `world_ranks`: by member. O(members) but for a search among the nodes.
Placement placement_of(const std::vector<int>& world_ranks, const CostModel& costs);

/// What of ring_traffic_of() the member sends and receives over links between nodes; the rest stays inside its node.
///
/// - Collectives along a ring or a chain run as `rails` of them at once, each with an equal slice of the data, and
///   member i of a node is the one at which ring i leaves it and, of the node after it, arrives. So 1/rails of what
///   such a member sends crosses (of n elements the longer slices go to the first members), and what a whole node sends
///   is what one ring sends. On a node with more members than `rails`, the others pass everything on inside.
/// - gather, scatter and all_to_all go directly: what crosses is what is for, or from, members of other nodes.
RingTraffic traffic_between_nodes(const back::Signature& signature, int member, const Placement& placement);

}  // namespace shardlings::front

/// \file
/// How a group lies on the nodes of a cluster, as far as its costs depend on it.
#pragma once

#include "front/trace/lanes.h"

namespace shardlings::front {

/// Every rank has a network port of its own, and a collective uses those of all its members: of `rails` members on each
/// node (NCCL builds as many rings or trees, each over one port of every node).
struct Spread {
  int nodes = 1;        ///< that have members
  int rails = 1;        ///< members on the node that has the fewest
  bool inside = false;  ///< a node has more than one member, so links inside nodes take part

  Link link() const { return nodes > 1 ? Link::inter_node : Link::intra_node; }
};

}  // namespace shardlings::front

/// \file
/// Ranks in a grid with named axes: one axis for each way in which work is divided.
///
/// \code
/// Grid grid(rank.world(), {{"replicate", 2}, {"shard", 4}});
///
///                  shard  0  1  2  3
///     replicate 0         0  1  2  3      ranks of the world
///     replicate 1         4  5  6  7
///
/// Group shard = grid.along("shard");          // on rank 5: ranks 4, 5, 6, 7
/// Group replicas = grid.along("replicate");   // on rank 5: ranks 1, 5
/// \endcode
///
/// The LAST axis is the innermost one, as in a Shape: ranks that differ only in it have consecutive numbers, so they
/// are inside one node as long as it is no longer than a node. PyTorch's DeviceMesh has this order;
/// Megatron-LM's `order` ("tp-cp-ep-dp-pp") and Llama 3's list name the innermost axis first.
#pragma once

#include <initializer_list>
#include <vector>

#include "shardlings/group.h"

namespace shardlings {

/// One direction of a grid.
struct Axis {
  const char* name = "";  ///< must outlive the grid; literals do
  int size = 1;           ///< ranks along it, at least 1
};

/// A group's ranks, in order, as the cells of a box. Made of Group::split and nothing else: it takes no device memory,
/// sends no bytes, and costs no virtual time but that of waiting for one another. A light handle.
class SHARDLINGS_API Grid {
 public:
  Grid() = default;
  /// Collective over `group`: one split for each axis. The product of the sizes is the group's size.
  /// throws: InvalidArgument if it is not, if a name is empty or there twice, if a size is less than 1.
  Grid(const Group& group, std::initializer_list<Axis> axes, Location at = Location::current());

  /// All ranks: the group that the grid was made of.
  Group all() const { return all_; }
  /// As they were given, outermost first.
  const std::vector<Axis>& axes() const { return axes_; }

  /// How many ranks lie along this axis. throws: InvalidArgument for an unknown axis.
  int size(const char* axis, Location at = Location::current()) const;
  /// Which of them this rank is, 0 to size(axis)-1. throws: InvalidArgument for an unknown axis.
  int coordinate(const char* axis, Location at = Location::current()) const;

  /// The ranks that differ from this one in this axis only. Its rank is the coordinate, its size that of the axis, its
  /// name in reports that of the axis. The same group at every call. throws: InvalidArgument for an unknown axis.
  Group along(const char* axis, Location at = Location::current()) const;

  /// The ranks that differ from this one in these axes only, in the order of the grid, whatever the order of the names.
  /// Collective over the grid: one split, and so a new group at every call. Its name in reports is that of its axes,
  /// "replicate x shard". With the name of a single axis, a second group of the ranks along it, in which messages have
  /// an order of their own.
  /// throws: InvalidArgument for an unknown axis, one that is there twice, or none.
  Group across(std::initializer_list<const char*> axes, Location at = Location::current()) const;

 private:
  friend struct detail::Access;
  int index_of(const char* axis, Location at) const;
  int coordinate_at(int axis) const;
  Group split(const std::vector<bool>& chosen, const char* name, Location at) const;

  Group all_;
  std::vector<Axis> axes_;
  std::vector<Group> along_;  ///< by axis
};

}  // namespace shardlings

/// \file
/// One rank: who am I, my device's memory, my part of the host's, and who else lives.
#pragma once

#include <vector>

#include "shardlings/group.h"
#include "shardlings/store.h"
#include "shardlings/tensor.h"

namespace shardlings {

/// Who lives, as all of them have agreed.
struct Survivors {
  Group group;              ///< the ranks that live, in the order of their numbers
  std::vector<int> ranks;   ///< by rank in the group: its Rank::id()
  std::vector<Count> said;  ///< by rank in the group: the number that it has said
};

/// The rank that runs this code. It is passed in, never global.
class SHARDLINGS_API Rank {
 public:
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  /// Number in the world, 0 to size()-1.
  int id() const { return world_.rank(); }
  /// How many ranks there are in the world.
  int size() const { return world_.size(); }
  /// The group of all ranks.
  Group& world() { return world_; }

  /// Allocates; what the elements are is undefined (NaN while grading). throws: OutOfMemory; InvalidArgument for a
  /// shape that no tensor can have: with a negative extent, or more elements than any memory holds.
  Tensor empty(Shape shape, Kind kind, DType dtype = DType::f32, Location at = Location::current());
  /// empty(), filled with zeros.
  Tensor zeros(Shape shape, Kind kind, DType dtype = DType::f32, Location at = Location::current());
  /// empty() in the host's memory, which the device cannot compute on: see host.h.
  Tensor host_empty(Shape shape, Kind kind, DType dtype = DType::f32, Location at = Location::current());
  /// host_empty(), filled with zeros.
  Tensor host_zeros(Shape shape, Kind kind, DType dtype = DType::f32, Location at = Location::current());
  /// Gives one element to the program, as f32. The only way a number leaves the device; waits for the device.
  /// throws: InvalidArgument for more or fewer than one element, MisuseError(race) on one that is in flight.
  float read(ConstView scalar, Location at = Location::current());

  /// The store that all ranks share, and that outlives them.
  Store store() const;

  /// Agrees with all others on who lives, and tells them a number (MPI's ULFM, Bland et al. 2013: shrink; torchft:
  /// quorum, where the number is the step). Collective over all ranks that neither are dead nor have returned, whatever
  /// groups they are in; all get the same. Its time is that of the last one to call it, after a death not before that
  /// is detected. wire: nothing.
  /// If nobody has died since the last one, the group is that of the last one, at first the world. Otherwise it is a
  /// new one, and all groups that were made before are revoked (see PeerFailed). A rank may wait here for as long as it
  /// is not needed. If all others return meanwhile, it is alone in the group. A rank has returned when its whole
  /// program is over: what a puzzle does behind your function belongs to it, and may call this, too.
  Survivors survivors(Count says = 0, Location at = Location::current());

 private:
  friend struct detail::Access;
  Rank(detail::Port* port, const Group& world) : port_(port), world_(world) {}
  detail::Port* port_ = nullptr;
  Group world_;
};

}  // namespace shardlings

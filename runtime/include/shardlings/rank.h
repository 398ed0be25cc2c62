/// \file
/// One rank: who am I, my device's memory, and my part of the host's.
#pragma once

#include "shardlings/group.h"
#include "shardlings/tensor.h"

namespace shardlings {

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

 private:
  friend struct detail::Access;
  Rank(detail::Port* port, const Group& world) : port_(port), world_(world) {}
  detail::Port* port_ = nullptr;
  Group world_;
};

}  // namespace shardlings

/// \file
/// One rank's dealings with the store that all ranks share: what it writes and reads, what it counts for that, and
/// the time that it takes.
#pragma once

#include <functional>
#include <string>

#include "api/call.h"
#include "front/host/host_lanes.h"
#include "front/memory/rank_memory.h"
#include "front/rank/rank_context.h"
#include "front/store/item_store.h"

namespace shardlings::front {

/// Returns when nobody can do anything any more before this virtual time.
using WaitToLook = std::function<void(Nanos time, Location at)>;

class RankStore {
 public:
  RankStore(RankContext& rank, RankMemory& memory, HostLanes& lanes, ItemStore& store, WaitToLook wait_to_look)
      : rank_(rank), memory_(memory), lanes_(lanes), store_(store), wait_to_look_(std::move(wait_to_look)) {}

  detail::Reply write(const detail::Call& call);
  detail::Reply read(const detail::Call& call);
  detail::Reply size(const detail::Call& call);
  detail::Reply write_number(const detail::Call& call);
  detail::Reply read_number(const detail::Call& call);
  detail::Reply publish(const detail::Call& call);
  /// An item of f32 that was there before the run; nullptr where nothing is computed.
  void give(const ItemName& name, Count count, const std::byte* values);

  /// Virtual time begins anew, on all ranks together.
  void begin() { store_.begin(); }
  /// This rank has died.
  void bury(Nanos died) { store_.bury(rank_.id(), died); }
  /// The name of an item that a call is about.
  ItemName name_in(const detail::Call& call, int first, int second) const;

 private:
  /// What is there now.
  ItemState look(const detail::Call& call, const ItemName& name);
  void write_down(const detail::Call& call, const ItemName& name, const Content& content, Times times);
  Content content_of(const Operand& data);
  /// Throws unless the elements are there.
  void check_read(const detail::Call& call, const ItemName& name, const ItemState& found, Range wanted, DType dtype);
  /// The clock moves by the latency.
  void pass_latency(const detail::Call& call);
  SourcePlace place_of(const detail::Call& call) const;
  Copies& counted(StoreAccess access) { return rank_.counters().store[static_cast<std::size_t>(access)]; }

  RankContext& rank_;
  RankMemory& memory_;
  HostLanes& lanes_;
  ItemStore& store_;
  WaitToLook wait_to_look_;
};

}  // namespace shardlings::front

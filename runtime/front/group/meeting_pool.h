/// \file
/// Meetings to use again, so that an operation costs no allocation.
#pragma once

#include <deque>
#include <vector>

#include "base/mutex.h"
#include "front/group/meeting.h"

namespace shardlings::front {

/// Meetings wander from the rank that comes first to the one that leaves last. So each rank keeps a few for itself,
/// without a lock, and what it has too many of goes round through the pool.
class MeetingPool {
 public:
  MeetingPool(int ranks, back::Engine& engine, back::Fabric& fabric)
      : engine_(engine), fabric_(fabric), own_(static_cast<std::size_t>(ranks)) {}

  /// A meeting whose members and references are as said; the rest is the caller's to set.
  Meeting* take(int rank, int members, int references);
  /// The same on behalf of no rank.
  Meeting* make(int members, int references);
  /// A meeting that nobody refers to.
  void put_back(int rank, Meeting* meeting);
  /// The same on behalf of no rank.
  void put_back(Meeting* meeting);
  /// The meeting whose data this exchange moves, with a reference to it; nullptr if nobody refers to it any more.
  Meeting* hold(const back::Exchange* exchange);

 private:
  /// What one rank alone touches.
  struct alignas(64) Own {
    std::vector<Meeting*> spare;
  };

  Meeting* make_locked() REQUIRES(lock_);

  back::Engine& engine_;
  back::Fabric& fabric_;
  std::vector<Own> own_;  ///< by rank

  Mutex lock_;
  std::deque<Meeting> all_ GUARDED_BY(lock_);
  std::vector<Meeting*> spare_ GUARDED_BY(lock_);
};

}  // namespace shardlings::front

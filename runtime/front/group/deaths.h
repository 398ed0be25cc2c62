/// \file
/// Ranks of the run that have died as the case wants it (clock/death.h, rank/doom.h), and for whom that is the end of
/// what they wait for.
///
/// An operation happens if and only if all of its members have called it, whether or not one of them has died since. So
/// a rank that dies is a Kahn process that ends, and what all others compute until nobody can go on is the same in
/// every run. At that moment, and no other, everybody is told at once.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "front/group/control.h"
#include "front/group/live_situation.h"

namespace shardlings::front {

class Deaths {
 public:
  /// From a death until others can know of it.
  void set_detection(Nanos detection) { detection_ = detection; }

  void add(int rank, Nanos died) { all_.push_back({rank, died, died + detection_}); }
  bool is_dead(int rank) const;
  /// The earliest death that no agreement has taken in; nothing if there is none.
  std::optional<PeerDeath> earliest_new() const;
  /// When all of them can be known.
  Nanos all_known() const;
  /// An agreement has taken them in.
  void acknowledge() { acknowledged_ = all_.size(); }

  /// Somebody waits for what a dead rank has not called, or for one who has begun to agree on who lives. To be asked
  /// when nobody can go on.
  bool doom_anybody(const std::vector<LiveStatus>& ranks) const;

 private:
  bool dooms(const Meeting* meeting, std::set<const Meeting*>& seen) const;

  Nanos detection_;
  std::vector<PeerDeath> all_;
  std::size_t acknowledged_ = 0;  ///< so many of them, from the beginning
};

/// A rank waits for what others do with it.
bool waits_for_others(const LiveStatus& status);
/// All that neither are dead nor have finished wait to agree on who they are, and there is one.
bool all_agree(const std::vector<LiveStatus>& ranks);

}  // namespace shardlings::front

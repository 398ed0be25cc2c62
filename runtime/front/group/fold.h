/// \file
/// A run in which of many equal replicas only some are run, and stand for the others.
///
/// Ranks are replicas of consecutive ranks. Those that do not run are mirrored: in each collective a rank that stands
/// for others posts for them, too, with its own times, so that groups have all of their members and cost what they
/// cost.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace shardlings::front {

class Fold {
 public:
  /// `replicas` times as many consecutive ranks, on nodes of so many ranks. Run are the first and the last replica, and
  /// of each way in which the others lie on their nodes the first two.
  Fold(int ranks, int replicas, int ranks_per_node);

  /// Every replica runs: there is nothing to fold.
  bool is_whole() const { return running_ == replicas_; }
  int replicas() const { return replicas_; }
  int running() const { return running_; }
  bool runs(int rank) const { return stands_for(rank) == rank; }
  /// The rank that runs in this one's place, or itself.
  int stands_for(int rank) const {
    const int replica = replica_of(rank);
    return rank + (instead_[static_cast<std::size_t>(replica)] - replica) * each_;
  }
  /// Two replicas that lie alike on their nodes and both run, so that their counters can be compared; by pairs.
  const std::vector<std::pair<int, int>>& twins() const { return twins_; }

  int replica_of(int rank) const { return rank / each_; }
  int ranks_per_replica() const { return each_; }

 private:
  int replicas_, each_, running_ = 0;
  std::vector<int> instead_;  ///< by replica: which one stands for it
  std::vector<std::pair<int, int>> twins_;
};

}  // namespace shardlings::front

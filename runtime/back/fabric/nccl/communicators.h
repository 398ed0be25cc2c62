/// \file
/// The communicators of a run, made when they are first needed.
///
/// All come from one root by splitting, and the root itself carries nothing: NCCL forbids splitting a communicator that
/// has work under way. Groups of the same ranks share one. Messages have one for each ordered pair of ranks, with a
/// queue of its own at each end: NCCL runs what is issued to one communicator in order, and messages of different
/// directions or pairs do not wait for one another here (decision D8).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "back/fabric/nccl/api.h"

namespace shardlings::back::nccl {

/// A communicator's ends by member.
struct Communicator {
  std::vector<int> gpus;
  std::vector<Comm> ends;
  std::vector<Queue> queues;  ///< of pairs only
};

class Communicators {
 public:
  Communicators(Api& api, int gpus, double timeout) : api_(api), gpus_(gpus), timeout_(timeout) {}
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  /// For collectives of these GPUs in this order.
  const Communicator& of_group(const std::vector<int>& gpus) { return get({gpus, false}); }
  /// For messages from the first of two GPUs to the second.
  const Communicator& of_pair(const std::vector<int>& gpus) { return get({gpus, true}); }

  /// Returns when nothing is in progress. Throws std::runtime_error if something has failed, or takes too long.
  void settle(const std::vector<Comm>& ends);
  /// What has failed on any communicator; empty if nothing has.
  std::string error();
  /// Makes everything that is under way end; nothing can be issued afterwards.
  void abort() noexcept;
  bool is_aborted() const { return aborted_; }

  int size() const { return static_cast<int>(made_.size()); }

 private:
  using Key = std::pair<std::vector<int>, bool>;
  const Communicator& get(const Key& key);

  Api& api_;
  int gpus_;
  double timeout_;
  bool aborted_ = false;
  std::vector<Comm> root_;
  std::map<Key, Communicator> made_;
};

}  // namespace shardlings::back::nccl

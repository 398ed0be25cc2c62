/// \file
/// One rank's unfinished operations: what a Work's id stands for, and the duty to wait for each.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "api/call.h"
#include "front/work/pending.h"

namespace shardlings::front {

class RankFront;

class WorkTable {
 public:
  explicit WorkTable(RankFront& front) : front_(front) {}

  /// A blocking call waits at once. Otherwise the operation's data are in flight, and the reply holds its id.
  detail::Reply start(const detail::Call& call, std::shared_ptr<Pending> pending);
  /// Waits for the Work of the call, and first for what it comes after, as far as nobody has waited for that.
  detail::Reply wait(const detail::Call& call);
  /// Holds a tensor until the work is waited for.
  detail::Reply keep(const detail::Call& call);
  detail::Reply drop(const detail::Call& call);

  /// nullptr if it has been waited for, or never was.
  std::shared_ptr<Pending> find(std::uint64_t id) const;
  /// The Work and what it comes after, as far as nobody has waited for it; the newest first.
  std::vector<std::uint64_t> chain(std::uint64_t id) const;

  /// Throws if work was started and never waited for.
  void check_end() const;
  /// After a failure: records what was in flight.
  void trace_in_flight() const;

 private:
  void finish(std::uint64_t id, Location at);
  void mark(const Pending& pending, std::uint64_t work);
  void unmark(const Pending& pending, std::uint64_t work);

  RankFront& front_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Pending>> pending_;
  std::uint64_t next_ = 1;
};

}  // namespace shardlings::front

/// \file
/// One rank's dealings with the host: copies between the memories, work of the host's processor, and accesses to the
/// store. Each direction of copies, the processor and the way to the store are lanes that run one thing after
/// another, beside the rank's program.
///
/// None of it needs another rank. Only what comes after an operation of several ranks has to wait for these; it is
/// launched when its times become known: at the call, or else when somebody waits for it.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/call.h"
#include "front/memory/rank_memory.h"
#include "front/pending/pending_table.h"
#include "front/rank/rank_context.h"

namespace shardlings::front {

/// What the host's processor shall do with operands in its memory.
struct HostJob {
  back::Kernel kernel;
  std::vector<PendingOperation::Use> uses;
  Cost cost;
  Label label;
};

/// An access to the store that all ranks share. What it is, the room of the store knows (front/store).
struct StoreJob {
  std::vector<PendingOperation::Use> uses;
  Bytes bytes;
  Nanos duration;
  Label label;
  std::string text;                   ///< for reports of leaks
  std::function<void(Times)> effect;  ///< called once, at the call; what it refers to outlives the operation
};

class HostLanes {
 public:
  HostLanes(RankContext& rank, RankMemory& memory, PendingTable& pending)
      : rank_(rank), memory_(memory), pending_(pending) {}

  /// tensor[0] becomes tensor[1], of which at least one is in the host's memory. Comes after the Work `id`.
  detail::Reply copy(const detail::Call& call);
  /// Comes after the Work `id`.
  detail::Reply compute(const detail::Call& call, const HostJob& job);

  /// Throws if the Work `id` waits for other ranks, or was revoked: nothing of the store's can come after it. Asked
  /// before anything is counted, since a program may catch PeerFailed and go on.
  void check_comes_after(const detail::Call& call) const;
  /// On the store's lane. Comes after the Work `id`, which check_comes_after() has let through.
  detail::Reply access(const detail::Call& call, StoreJob job);

  /// The Work and what it comes after, as far as nobody has waited for it.
  std::vector<std::uint64_t> chain(std::uint64_t work) const { return pending_.chain(work); }
  /// Virtual time begins anew.
  void restart_clock();

 private:
  class HostOperation;

  std::shared_ptr<HostOperation> begin(const detail::Call& call, Lane lane, const back::Kernel& kernel);
  detail::Reply start(const detail::Call& call, std::shared_ptr<HostOperation> operation);

  RankContext& rank_;
  RankMemory& memory_;
  PendingTable& pending_;
  std::array<std::shared_ptr<HostOperation>, kLanes> last_;  ///< by lane: what was started last
};

}  // namespace shardlings::front

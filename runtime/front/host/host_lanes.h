/// \file
/// One rank's dealings with the host: copies between the memories, and work of the host's processor. Each direction of
/// copies and the processor are lanes that run one thing after another, beside the rank's program.
///
/// None of it needs another rank. Only what comes after an operation of several ranks has to wait for these; it is
/// launched when its times become known: at the call, or else when somebody waits for it.
#pragma once

#include <array>
#include <memory>
#include <optional>
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

class HostLanes {
 public:
  HostLanes(RankContext& rank, RankMemory& memory, PendingTable& pending)
      : rank_(rank), memory_(memory), pending_(pending) {}

  /// tensor[0] becomes tensor[1], of which at least one is in the host's memory. Comes after the Work `id`.
  detail::Reply copy(const detail::Call& call);
  /// Comes after the Work `id`.
  detail::Reply compute(const detail::Call& call, const HostJob& job);

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

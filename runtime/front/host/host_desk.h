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
#include "front/rank_front.h"
#include "front/work/pending.h"

namespace shardlings::front {

/// What the host's processor shall do with operands in its memory.
struct HostJob {
  back::Kernel kernel;
  std::vector<Pending::Use> uses;
  Cost cost;
  Label label;
};

class HostDesk {
 public:
  explicit HostDesk(RankFront& front) : front_(front) {}

  /// tensor[0] becomes tensor[1], of which at least one is in the host's memory. Comes after the Work `id`.
  detail::Reply copy(const detail::Call& call);
  /// Comes after the Work `id`.
  detail::Reply compute(const detail::Call& call, const HostJob& job);

  /// Virtual time begins anew.
  void restart_clock();

 private:
  class HostWork;

  std::shared_ptr<HostWork> begin(const detail::Call& call, Lane lane, const back::Kernel& kernel);
  detail::Reply start(const detail::Call& call, std::shared_ptr<HostWork> work);

  RankFront& front_;
  std::array<std::shared_ptr<HostWork>, kLanes> last_;  ///< by lane: what was started last
};

}  // namespace shardlings::front

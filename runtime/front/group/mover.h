/// \file
/// The data plane's side of one operation, the same for every control plane: from its members' posts to the end of the
/// last one's part it drives a back::Exchange. A rank that waits moves data; one with nothing left to claim sleeps
/// here.
///
/// A rank that sleeps here does not count as blocked: another rank is moving its data, and needs nobody for that.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "back/engine/engine.h"
#include "back/fabric/fabric.h"

namespace shardlings::front {

/// Invariants
/// (1) All posts happen before launch(), and launch() before any finish() of the same operation: the control plane
///     answers a wait only after both. So they need no order of their own.
/// (2) `phase_` goes posting -> moving -> done in launch() and in the one help() that says `complete`.
/// (3) No member leaves the operation before its finish() has returned, so the Mover is not used for another one
///     (begin()) while anybody is inside.
class Mover {
 public:
  Mover(std::unique_ptr<back::Exchange> exchange, back::Engine& engine)
      : exchange_(std::move(exchange)), engine_(engine) {}

  /// Starts over for a new operation, of so many members.
  void begin(int members);
  /// A member's buffers are ready; `signature` is as that member called it. Returns what the others' data planes need
  /// to know of them. Never blocks.
  back::DataHandle post(int member, const back::Signature& signature, const back::Buffers& buffers);
  /// All members have posted and agree on the signature. Called once: by the control plane where the members share the
  /// Mover, before any of them learns of it; else by finish(). Never blocks.
  void launch(const back::Signature& signature, std::span<const back::DataHandle> handles);
  /// After the control plane's answer, which this is: returns when the data are in place (for devices: enqueued).
  /// Returns where the operation begins and ends on a lane of this member's device, if that measures.
  back::Marks finish(int member, const back::Signature& signature, std::span<const back::DataHandle> handles);

  /// Instead of all that: the operation never happens.
  void revoke(int member) { exchange_->revoke(member); }

  /// True if this is the exchange that it drives.
  bool drives(const back::Exchange* exchange) const { return exchange_.get() == exchange; }

 private:
  enum Phase : std::uint32_t { posting, moving, done };

  void complete();
  void sleep();

  std::unique_ptr<back::Exchange> exchange_;
  back::Engine& engine_;
  std::atomic<std::uint32_t> phase_{posting};  ///< the word on which members sleep
  std::atomic<int> sleepers_{0};
};

}  // namespace shardlings::front

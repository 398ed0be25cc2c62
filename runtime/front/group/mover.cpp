#include "front/group/mover.h"

namespace shardlings::front {

// Relaxed: the Mover is handed to other members with the operation that it belongs to (invariant 3).
void Mover::begin(int members) {
  phase_.store(posting, std::memory_order_relaxed);
  exchange_->begin(members);
}

back::DataHandle Mover::post(int member, const back::Signature& signature, const back::Buffers& buffers) {
  return exchange_->post(member, signature, buffers);
}

// Nobody sleeps here before the launch, so there is nobody to wake, and the control plane's answer carries the phase
// to the others (invariant 1).
void Mover::launch(const back::Signature& signature, std::span<const back::DataHandle> handles) {
  const bool in_place = exchange_->launch(signature, handles);
  phase_.store(in_place ? done : moving, std::memory_order_relaxed);
}

back::Marks Mover::finish(int member, const back::Signature& signature, std::span<const back::DataHandle> handles) {
  if (phase_.load(std::memory_order_relaxed) == posting) launch(signature, handles);
  // Acquire: pairs with the store in complete(), after which all pieces are in place. What the other helpers wrote was
  // handed to the one who completes by the exchange itself.
  while (phase_.load(std::memory_order_acquire) == moving) {
    if (exchange_->help(member) == back::HelpResult::complete) {
      complete();
    } else if (!engine_.spin(phase_, moving)) {
      sleep();
    }
  }
  exchange_->finish(member);
  return exchange_->marks(member);
}

// Sequentially consistent, as is sleep(): one says `done` and then looks for sleepers, the other counts itself and then
// looks for `done`. In one order of all four, at least one of the two sees the other, so nobody sleeps for ever. With
// acquire and release alone both could see the old values.
void Mover::complete() {
  phase_.store(done, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) > 0) engine_.wake(phase_);
}

void Mover::sleep() {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  while (phase_.load(std::memory_order_seq_cst) == moving) engine_.park(phase_, moving);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace shardlings::front

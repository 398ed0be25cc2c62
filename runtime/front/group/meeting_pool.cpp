#include "front/group/meeting_pool.h"

#include <algorithm>

namespace shardlings::front {
namespace {

constexpr std::size_t kSurplus = 16;

}  // namespace

Meeting* MeetingPool::make_locked() {
  return &all_.emplace_back(fabric_.make_exchange(), engine_);
}

Meeting* MeetingPool::make(int members, int references) {
  const MutexLock guard(lock_);
  Meeting* meeting = make_locked();
  meeting->reset(members, references);
  return meeting;
}

Meeting* MeetingPool::take(int rank, int members, int references) {
  auto& spare = own_[static_cast<std::size_t>(rank)].spare;
  if (spare.empty()) {
    const MutexLock guard(lock_);
    const std::size_t taken = std::min(kSurplus, spare_.size());
    spare.assign(spare_.end() - static_cast<std::ptrdiff_t>(taken), spare_.end());
    spare_.resize(spare_.size() - taken);
    if (taken == 0) spare.push_back(make_locked());
  }
  Meeting* meeting = spare.back();
  spare.pop_back();
  meeting->reset(members, references);
  return meeting;
}

void MeetingPool::put_back(int rank, Meeting* meeting) {
  auto& spare = own_[static_cast<std::size_t>(rank)].spare;
  spare.push_back(meeting);
  if (spare.size() < 2 * kSurplus) return;
  const MutexLock guard(lock_);
  spare_.insert(spare_.end(), spare.end() - static_cast<std::ptrdiff_t>(kSurplus), spare.end());
  spare.resize(spare.size() - kSurplus);
}

void MeetingPool::put_back(Meeting* meeting) {
  const MutexLock guard(lock_);
  spare_.push_back(meeting);
}

// A thread that has no reference yet cannot just add one: a meeting without any may be on its way to its next
// operation. Acquire: a thread that finds a reference sees what reset() has made of the meeting before (invariant 5).
Meeting* MeetingPool::hold(const back::Exchange* exchange) {
  const MutexLock guard(lock_);
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Meeting& m) { return m.mover.drives(exchange); });
  if (found == all_.end()) return nullptr;
  int references = found->references.load(std::memory_order_relaxed);
  while (references > 0) {
    if (found->references.compare_exchange_weak(references, references + 1, std::memory_order_acquire,
                                                std::memory_order_relaxed)) {
      return &*found;
    }
  }
  return nullptr;
}

}  // namespace shardlings::front

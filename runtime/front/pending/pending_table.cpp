#include "front/pending/pending_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/verbs.h"
#include "base/text.h"

namespace shardlings::front {

using detail::Call;
using detail::Ref;
using detail::Reply;

Reply PendingTable::start(const Call& call, std::shared_ptr<PendingOperation> pending) {
  Reply reply;
  if (const auto before = find(pending->after)) {
    before->followed = true;
  } else {
    pending->after = 0;  // over, or never begun: so a chain of work has an end
  }
  if (call.blocking != 0) {
    add_blocking(std::move(pending));
    settle_blocking();
    return reply;
  }
  reply.id = next_++;
  mark(*pending, reply.id);
  rank_.standstills().remember();
  pending_.emplace(reply.id, std::move(pending));
  return reply;
}

// That a rank has died comes as something that is no std::exception: then they are left for forgive_all().
void PendingTable::settle_blocking() {
  const bool are_several = blocking_.size() > 1;  // while one is waited for, the others go on
  if (are_several) rank_.standstills().remember();
  try {
    for (const auto& pending : blocking_) {
      settle_or_stick(pending);
      pending->pass_time(pending->at);
    }
    blocking_.clear();
    if (are_several) forget_standstills();
  } catch (const std::exception&) {
    blocking_.clear();  // the call has failed: the next one has nothing to do with them
    throw;
  }
}

void PendingTable::settle_or_stick(const std::shared_ptr<PendingOperation>& pending) {
  try {
    pending->settle(pending->at);
  } catch (const Aborted&) {
    stuck_.push_back(pending);
    throw;
  }
}

Reply PendingTable::wait(const Call& call) {
  const Location at = rank_.place(call);
  std::vector<std::uint64_t> ids = chain(call.id);
  std::reverse(ids.begin(), ids.end());
  for (const std::uint64_t id : ids) finish(id, at);
  return {};
}

void PendingTable::finish(std::uint64_t id, Location at) {
  const auto found = pending_.find(id);
  const std::shared_ptr<PendingOperation> pending = found->second;
  if (pending->revoked) {
    pending_.erase(found);
    throw PeerFailed(fmt::format("{}: rank {}: wait for {}, which was revoked when a rank had died, and never ends.\n"
                                 "Drop what was under way, and start it anew in the group of survivors().",
                                 to_text(at), rank_.id(), pending->describe())
                         .c_str(),
                     at);
  }
  pending->settle(at);
  pending->pass_time(at);
  unmark(*pending, id);
  const std::vector<Ref> kept = std::move(pending->kept);
  pending_.erase(found);
  for (const Ref& ref : kept) memory_.free(ref, at);
  forget_standstills();
}

void PendingTable::forget_standstills() {
  Standstills& all = rank_.standstills();
  if (pending_.empty()) return all.forget_all();
  if (all.size() <= many_standstills_) return;
  const auto oldest = std::min_element(pending_.begin(), pending_.end(), [](const auto& a, const auto& b) {
    return a.second->posted < b.second->posted;
  });
  all.forget_before(oldest->second->posted);
  many_standstills_ = std::max(many_standstills_, 2 * all.size());
}

Reply PendingTable::keep(const Call& call) {
  if (const auto pending = find(call.id)) {
    pending->kept.push_back(call.tensor[0]);
  } else {
    memory_.free(call.tensor[0],
                 rank_.place(call));  // nothing is in flight any more: keeping until now is all there is to do
  }
  return {};
}

Reply PendingTable::drop(const Call& call) {
  const auto pending = find(call.id);
  if (!pending || pending->followed) return {};
  if (pending->forgiven) {
    pending_.erase(call.id);
    return {};
  }
  if (rank_.options().checks && !rank_.aborted()) {
    rank_.defer(
        Misuse::leak,
        fmt::format("leak: rank {} dropped the Work of {} at {} without wait(): its result may never arrive.\n"
                    "Keep every Work and wait for it before its data are used or the function returns. Do not start "
                    "what nobody needs.",
                    rank_.id(), pending->describe(), to_text(pending->at)),
        pending->at);
  }
  // Its marks stay: the next use of the data finds out.
  return {};
}

std::shared_ptr<PendingOperation> PendingTable::find(std::uint64_t id) const {
  const auto found = pending_.find(id);
  return found == pending_.end() ? nullptr : found->second;
}

std::vector<std::uint64_t> PendingTable::chain(std::uint64_t id) const {
  std::vector<std::uint64_t> ids;
  for (auto pending = find(id); pending; pending = find(id)) {
    ids.push_back(id);
    id = pending->after;
  }
  return ids;
}

void PendingTable::check_end() const {
  if (pending_.empty() || !rank_.options().checks) return;
  // One that others come after is not to blame, and of those that none comes after there is at least one.
  const PendingOperation* first = nullptr;
  int owed = 0;
  for (const auto& [id, pending] : pending_) {
    if (pending->followed || pending->forgiven) continue;
    ++owed;
    if (!first || pending->order < first->order) first = pending.get();
  }
  if (!first) return;
  const std::string sentence = fmt::format(
      "leak: rank {} returned without wait() for {} at {}{}.\nEvery Work must be waited for. Do not start what nobody "
      "needs.",
      rank_.id(), first->describe(), to_text(first->at), owed > 1 ? fmt::format(" and {} more", owed - 1) : "");
  throw MisuseError(Misuse::leak, sentence.c_str(), first->at);
}

// In the order in which they were started: what comes after another one, or stands behind it on a lane, finds that over
// or revoked.
void PendingTable::forgive_all(Location at) {
  std::vector<std::uint64_t> works;
  for (const auto& [id, pending] : pending_) {
    if (!pending->forgiven) works.push_back(id);
  }
  std::sort(works.begin(), works.end());
  for (const std::uint64_t work : works) {
    PendingOperation& pending = *pending_.at(work);
    give_up(pending, at);
    unmark(pending, work);
    for (const Ref& ref : std::exchange(pending.kept, {})) memory_.free(ref, at);
  }
  for (const auto& pending : std::exchange(blocking_, {})) give_up(*pending, at);
}

void PendingTable::give_up(PendingOperation& pending, Location at) {
  if (pending.can_settle()) {
    pending.settle(at);
    rank_.device().wait(back::DeviceLane::compute, pending.event());
  } else {
    pending.revoke();
    pending.revoked = true;
  }
  pending.forgiven = true;
}

void PendingTable::trace_in_flight() const {
  if (!rank_.trace().enabled()) return;
  std::vector<PendingOperation*> in_order;
  for (const auto& stuck : stuck_) in_order.push_back(stuck.get());
  for (const auto& [id, pending] : pending_) {
    if (!pending->revoked) in_order.push_back(pending.get());
  }
  std::sort(in_order.begin(), in_order.end(),
            [](const PendingOperation* a, const PendingOperation* b) { return a->order < b->order; });
  for (PendingOperation* pending : in_order) pending->trace_in_flight();
}

void PendingTable::mark(const PendingOperation& pending, std::uint64_t work) {
  for (const auto& [operand, writes] : pending.uses) {
    if (!operand || operand.size() == 0) continue;
    memory_.storages().at(operand.ref.storage).mark({range_of(operand), writes, work, pending.name(), pending.at});
  }
}

void PendingTable::unmark(const PendingOperation& pending, std::uint64_t work) {
  for (const auto& [operand, writes] : pending.uses) {
    if (!operand || operand.size() == 0) continue;
    Storage* storage = memory_.storages().find(operand.ref.storage, operand.ref.generation);
    if (!storage) continue;
    std::erase_if(storage->in_flight, [&](const InFlight& mark) { return mark.work == work; });
    if (storage->dropped && storage->in_flight.empty()) {
      storage->dropped = false;
      memory_.free(operand.ref, pending.at);
    }
  }
}

}  // namespace shardlings::front

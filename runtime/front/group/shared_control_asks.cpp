// What a rank of the shared control plane waits for alone: a message of any rank, a look at the store, an agreement on
// who lives; and what is left of its lanes when groups are revoked.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "front/group/shared_control.h"
#include "front/group/ticket.h"

namespace shardlings::front {

// Nobody but this rank and, while it sleeps, whoever grants it something has the meeting.
Meeting* SharedControl::ask(int rank, Asks what, const Membership& in, const CallRecord& record) {
  Meeting* call = pool_.take(rank, 1, 1);
  call->group = in.group;
  call->number = 0;
  call->message = true;
  call->from = kNobody;
  call->to = in.member;
  call->asks = what;
  call->records.front() = record;
  call->predecessors.front() = nullptr;
  call->posted.front() = 1;
  return call;
}

void SharedControl::refuse_folded(const char* why, const GroupInfo& group) {
  if (group.running == static_cast<int>(group.members->size())) return;
  Failure failure;
  failure.message = why;
  quiescence_.fail(failure);
}

int SharedControl::wait_for_any(int rank, std::uint32_t group, const CallRecord& record, Location at) {
  return end_any(rank, begin_any(rank, group, record), at);
}

Ticket SharedControl::begin_any(int rank, std::uint32_t group, const CallRecord& record) {
  const Membership in = own(rank).seats[group].in;
  refuse_folded("recv_any takes the earliest message of any rank, and ranks that are mirrored send none", *in.group);
  Meeting* call = ask(rank, Asks::any_sender, in, record);
  call->inbox = &inbox(rank, group);
  return ticket_of(call, 0);
}

int SharedControl::end_any(int rank, const Ticket& ticket, Location at) {
  Meeting* call = meeting_of(ticket);
  try {
    quiescence_.wait(rank, *call, 0, at);
  } catch (const Revoked&) {
    unref(rank, call);  // no receive comes of it
    throw;
  }
  const int from = call->from;
  unref(rank, call);
  return from;
}

void SharedControl::wait_to_look(int rank, Nanos time, Location at) {
  end_look(rank, begin_look(rank, time, at), at);
}

Ticket SharedControl::begin_look(int rank, Nanos time, Location at) {
  const Membership in = world(rank);
  refuse_folded("the store is asked what is there, and ranks that are mirrored write nothing", *in.group);
  CallRecord record;
  record.posted = time;
  record.at = at;
  return ticket_of(ask(rank, Asks::look, in, record), 0);
}

void SharedControl::end_look(int rank, const Ticket& ticket, Location at) {
  Meeting* call = meeting_of(ticket);
  quiescence_.wait(rank, *call, 0, at);
  unref(rank, call);
}

Agreement SharedControl::agree(int rank, Nanos posted, Count says, Location at) {
  return end_agree(rank, begin_agree(rank, posted, says, at), at);
}

Ticket SharedControl::begin_agree(int rank, Nanos posted, Count says, Location at) {
  const Membership in = world(rank);
  refuse_folded("survivors() asks who lives, and ranks that are mirrored do not say", *in.group);
  CallRecord record;
  record.posted = posted;
  record.signature.count = says;
  record.at = at;
  return ticket_of(ask(rank, Asks::agreement, in, record), 0);
}

Agreement SharedControl::end_agree(int rank, const Ticket& ticket, Location at) {
  Meeting* call = meeting_of(ticket);
  quiescence_.wait(rank, *call, 0, at);
  Agreement agreement{call->end, std::nullopt, call->agreed_on->said};
  if (call->agreed_on->is_new_group) {
    own(rank).seats.push_back(call->split.front());
    agreement.made = call->split.front().in;
  }
  unref(rank, call);
  return agreement;
}

void SharedControl::make_agreement(const std::vector<Meeting*>& of_ranks, Nanos time, bool anybody_died) {
  std::vector<int> ranks;
  auto said = std::make_shared<std::vector<Count>>();
  for (const Meeting* meeting : of_ranks) {
    ranks.push_back(meeting->rank_of(0));
    said->push_back(meeting->records.front().signature.count);
  }
  const bool is_new_group = anybody_died || ranks != *agreed_->members;
  if (is_new_group) agreed_ = &group_of(std::move(ranks));
  Meeting* head = is_new_group ? pool_.make(0, agreed_->running) : nullptr;
  for (std::size_t m = 0; m < of_ranks.size(); ++m) {
    of_ranks[m]->end = time;
    of_ranks[m]->agreed_on = Agreed{said, is_new_group};
    of_ranks[m]->split.assign(1, {{agreed_, static_cast<std::int32_t>(m)}, head});
  }
}

const GroupInfo& SharedControl::group_of(std::vector<int> ranks) {
  const MutexLock guard(tables_);
  GroupInfo& info = groups_.emplace_back();
  info.name = fmt::format("survivors{}", ++agreements_);
  info.number = static_cast<std::uint32_t>(own(ranks.front()).seats.size());
  info.placement = placement_of(ranks, costs_);
  info.running = static_cast<int>(ranks.size());
  info.members = std::make_shared<const std::vector<int>>(std::move(ranks));
  return info;
}

bool SharedControl::is_agreed(int, const Ticket& ticket) {
  return meeting_of(ticket)->phase.load(std::memory_order_acquire) == static_cast<std::uint32_t>(Phase::agreed);
}

// Of the operations that were queued one behind another on the lane, the first ones may have run.
Nanos SharedControl::lane_end(int rank, const Meeting* tail) {
  while (!tail->resolved.load(std::memory_order_acquire)) {
    const std::vector<int>& members = *tail->group->members;
    const auto m = static_cast<std::size_t>(std::find(members.begin(), members.end(), rank) - members.begin());
    if (tail->predecessors[m] == nullptr) return tail->records[m].lane_free;
    tail = tail->predecessors[m];
  }
  return tail->end;
}

void SharedControl::clear_lanes(int rank) {
  for (std::size_t link = 0; link < kLinks; ++link) {
    Meeting*& tail = own(rank).lane_tail[link];
    if (tail == nullptr) continue;
    own(rank).lane_end[link] = lane_end(rank, tail);
    unref(rank, tail);
    tail = nullptr;
  }
}

}  // namespace shardlings::front

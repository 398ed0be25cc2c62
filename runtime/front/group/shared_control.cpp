#include "front/group/shared_control.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "front/group/any_sender.h"
#include "front/group/folded_split.h"
#include "front/group/live_situation.h"
#include "front/group/splitting.h"
#include "front/group/ticket.h"

namespace shardlings::front {

/// What is the same for all meetings of a chain.
struct SharedControl::Kind {
  const GroupInfo* group;
  bool message = false;
  int from = 0, to = 0;
};

SharedControl::SharedControl(int ranks, const Cluster& cluster, back::Engine& engine, back::Fabric& fabric,
                             BlackBox* black_box, bool checks, const Fold* fold)
    : fabric_(fabric),
      costs_(cluster),
      checks_(checks),
      fold_(fold),
      pool_(ranks, engine, fabric),
      quiescence_(ranks, engine, fabric, costs_, black_box),
      members_(static_cast<std::size_t>(ranks)) {
  {
    const MutexLock guard(tables_);
    GroupInfo& world = groups_.emplace_back(world_of(ranks, costs_));
    world.running = running_of(*world.members);
    Meeting* head = pool_.make(0, world.running);
    for (int r = 0; r < ranks; ++r) own(r).seats.push_back({{&world, r}, head});
    agreed_ = &world;
  }
  quiescence_.agree_by([this](const std::vector<Meeting*>& of_ranks, Nanos time, bool anybody_died) {
    make_agreement(of_ranks, time, anybody_died);
  });
  fabric_.watch([this](const back::Exchange* exchange, const std::string& why) { report_stuck(exchange, why); });
}

SharedControl::~SharedControl() {
  fabric_.watch({});
}

Membership SharedControl::world(int rank) {
  return own(rank).seats.front().in;
}

// Release what this rank did with it, acquire what the others did: Meeting, invariant 5.
void SharedControl::unref(int rank, Meeting* meeting) {
  if (meeting->references.fetch_sub(1, std::memory_order_acq_rel) == 1) pool_.put_back(rank, meeting);
}

// Members race to make the next meeting; one wins, and the others use what it has made. Acquire and release are those
// of Meeting, invariant 1; a rank that loses the race acquires, too, since it goes on with the winner's.
Meeting* SharedControl::step(int rank, Meeting*& place, const Kind& kind) {
  Meeting* next = place->next.load(std::memory_order_acquire);
  if (!next) {
    const int members = kind.message ? 2 : static_cast<int>(kind.group->members->size());
    Meeting* made = pool_.take(rank, members, 2 * (kind.message ? 2 : kind.group->running));
    made->group = kind.group;
    made->number = place->number + 1;
    made->message = kind.message;
    made->from = kind.from;
    made->to = kind.to;
    made->link = kind.group->placement.spread.link();
    made->mover.begin(members);
    if (place->next.compare_exchange_strong(next, made, std::memory_order_acq_rel, std::memory_order_acquire)) {
      next = made;
    } else {
      pool_.put_back(rank, made);
    }
  }
  unref(rank, place);
  place = next;
  return next;
}

Ticket SharedControl::join(int rank, std::uint32_t group) {
  Seat& seat = own(rank).seats[group];
  return ticket_of(step(rank, seat.last, {seat.in.group}), seat.in.member);
}

Meeting*& SharedControl::channel(int rank, std::uint32_t group, int from, int to) {
  const auto key =
      (std::uint64_t{group} << 40) | (static_cast<std::uint64_t>(from) << 20) | static_cast<std::uint64_t>(to);
  Meeting*& place = own(rank).channels[key];
  if (!place) {
    const MutexLock guard(tables_);
    Meeting*& head = channel_heads_[{own(rank).seats[group].in.group, from, to}];
    if (!head) head = pool_.make(0, 2);
    place = head;
  }
  return place;
}

Ticket SharedControl::join_message(int rank, std::uint32_t group, int from, int to) {
  const Membership& in = own(rank).seats[group].in;
  Meeting* meeting = step(rank, channel(rank, group, from, to), {in.group, true, from, to});
  return ticket_of(meeting, in.member == from ? 0 : 1);
}

// Meeting, invariant 2: this member's entries, then itself from `missing`.
void SharedControl::post(int rank, const Ticket& ticket, const CallRecord& record, back::DataHandle data) {
  Meeting* meeting = meeting_of(ticket);
  const auto m = static_cast<std::size_t>(ticket.member);
  meeting->records[m] = record;
  meeting->records[m].groups = static_cast<std::uint32_t>(own(rank).seats.size());
  meeting->handles[m] = data;
  meeting->predecessors[m] = nullptr;
  if (!meeting->message) take_lane(rank, meeting, ticket.member);
  meeting->posted[m] = 1;
  const int posts = 1 + (fold_ != nullptr && !meeting->message ? post_for_others(rank, meeting, ticket.member) : 0);
  if (meeting->missing.fetch_sub(posts, std::memory_order_acq_rel) == posts) complete_posting(rank, meeting);
}

int SharedControl::running_of(const std::vector<int>& members) const {
  if (fold_ == nullptr) return static_cast<int>(members.size());
  return static_cast<int>(std::count_if(members.begin(), members.end(), [&](int r) { return fold_->runs(r); }));
}

// What waits for this rank's lane waits for theirs: their entries need no predecessor of their own.
int SharedControl::post_for_others(int rank, Meeting* meeting, int member) {
  const auto [found, is_new] = own(rank).mirrored.try_emplace(meeting->group);
  std::vector<int>& others = found->second;
  if (is_new) {
    const std::vector<int>& members = *meeting->group->members;
    for (std::size_t m = 0; m < members.size(); ++m) {
      const bool is_mirrored = members[m] != rank && fold_->stands_for(members[m]) == rank;
      if (is_mirrored) others.push_back(static_cast<int>(m));
    }
  }
  const CallRecord& record = meeting->records[static_cast<std::size_t>(member)];
  for (const int other : others) {
    const auto m = static_cast<std::size_t>(other);
    meeting->records[m] = record;
    meeting->handles[m] = meeting->handles[static_cast<std::size_t>(member)];
    meeting->predecessors[m] = nullptr;
    meeting->posted[m] = 1;
  }
  return static_cast<int>(others.size());
}

void SharedControl::take_lane(int rank, Meeting* meeting, int member) {
  const auto link = static_cast<std::size_t>(meeting->link);
  const auto m = static_cast<std::size_t>(member);
  Meeting*& tail = own(rank).lane_tail[link];
  if (tail && tail->resolved.load(std::memory_order_acquire)) {  // acquire: its end, Meeting, invariant 3
    own(rank).lane_end[link] = tail->end;
    unref(rank, tail);
    tail = nullptr;
  }
  if (tail) {
    meeting->predecessors[m] = tail;  // the lane's reference goes along; dropped when this meeting is resolved
  } else {
    meeting->records[m].lane_free = own(rank).lane_end[link];
  }
  meeting->references.fetch_add(1, std::memory_order_relaxed);  // the lane's: this rank has others, invariant 5
  tail = meeting;
}

void SharedControl::complete_posting(int rank, Meeting* meeting) {
  if (fold_ != nullptr && !meeting->message && meeting->records.front().signature.kind == back::Collective::split) {
    if (const auto why = complete_split(*fold_, *meeting)) {
      Failure failure;
      failure.message = *why;
      quiescence_.fail(failure);
      return;
    }
  }
  if (checks_ && !disagreement(meeting->records).empty()) {
    quiescence_.add_mismatch(meeting);  // never resolved: its members will block, and the detector will say why
    return;
  }
  if (!waits_for_predecessors(meeting)) resolve(rank, meeting);
}

// If it does, the last predecessor's resolver goes on with the meeting. A rank that queues announces it and then looks
// whether the predecessor is resolved; the resolver says so and then looks for announcements. All four are sequentially
// consistent: in their one order at least one of the two sees the other, so the meeting is not forgotten. If both do,
// the lock decides: the one who queues looks under it, and so does the resolver, later.
bool SharedControl::waits_for_predecessors(Meeting* meeting) {
  const auto open = [](const Meeting* p) { return p && !p->resolved.load(std::memory_order_acquire); };
  if (std::none_of(meeting->predecessors.begin(), meeting->predecessors.end(), open)) return false;
  const MutexLock guard(queues_);
  for (Meeting* predecessor : meeting->predecessors) {
    if (!predecessor) continue;
    predecessor->has_successors.store(true, std::memory_order_seq_cst);
    if (predecessor->resolved.load(std::memory_order_seq_cst)) continue;
    predecessor->successors.push_back(meeting);
    ++meeting->waiting_for;
  }
  return meeting->waiting_for > 0;
}

// A loop over what becomes resolved by this, not a recursion: a lane may have hundreds of operations queued. Most have
// none, and allocate nothing.
void SharedControl::resolve(int rank, Meeting* meeting) {
  std::vector<Meeting*> next;
  for (;;) {
    resolve_one(rank, meeting, next);
    if (next.empty()) return;
    meeting = next.back();
    next.pop_back();
  }
}

void SharedControl::resolve_one(int rank, Meeting* meeting, std::vector<Meeting*>& next) {
  set_times(meeting);
  drop_predecessors(rank, meeting);  // only its times depend on them
  const bool moves = meeting->agreed().kind != back::Collective::split;
  if (!moves) make_groups(meeting);
  // Ours, while others may finish with it. Their tickets' references are still there, so no order is needed.
  meeting->references.fetch_add(1, std::memory_order_relaxed);
  meeting->resolved.store(true, std::memory_order_seq_cst);  // see waits_for_predecessors()
  if (moves) meeting->mover.launch(meeting->agreed(), meeting->handles);
  quiescence_.wake(*meeting);
  if (meeting->has_successors.load(std::memory_order_seq_cst)) add_resolved_successors(meeting, next);
  unref(rank, meeting);
}

void SharedControl::drop_predecessors(int rank, Meeting* meeting) {
  for (Meeting*& predecessor : meeting->predecessors) {
    if (predecessor) unref(rank, predecessor);
    predecessor = nullptr;
  }
}

void SharedControl::add_resolved_successors(Meeting* meeting, std::vector<Meeting*>& resolved) {
  const MutexLock guard(queues_);
  for (Meeting* successor : meeting->successors) {
    if (--successor->waiting_for == 0) resolved.push_back(successor);
  }
  meeting->successors.clear();
}

void SharedControl::set_times(Meeting* meeting) const {
  if (meeting->message) {
    const CallRecord& send = meeting->records[0];
    const CallRecord& receive = meeting->records[1];
    const Link link = costs_.link_between(meeting->rank_of(0), meeting->rank_of(1));
    meeting->start = std::max(send.lane_free, receive.posted);
    meeting->end = meeting->start + transfer_of(send.signature, link, costs_);
    return;
  }
  Nanos start;
  for (std::size_t m = 0; m < meeting->records.size(); ++m) {
    const Meeting* predecessor = meeting->predecessors[m];
    const Nanos free = predecessor ? predecessor->end : meeting->records[m].lane_free;
    start = std::max({start, meeting->records[m].posted, free});
  }
  meeting->start = start;
  meeting->end = start + costs_.collective(meeting->agreed(), meeting->group->placement.spread);
}

void SharedControl::make_groups(Meeting* split) {
  std::vector<NewGroup> made = groups_of_split(*split, costs_);
  split->split.assign(static_cast<std::size_t>(split->members()), {});
  const MutexLock guard(tables_);
  for (NewGroup& group : made) {
    GroupInfo& info = groups_.emplace_back(std::move(group.info));
    info.running = running_of(*info.members);
    Meeting* head = pool_.make(0, info.running);
    std::int32_t rank_in_group = 0;
    for (const int member : group.members) {
      split->split[static_cast<std::size_t>(member)] = {{&info, rank_in_group++}, head};
    }
  }
}

bool SharedControl::blocks(int rank, const Ticket& ticket, Location at) {
  return quiescence_.blocks(rank, *meeting_of(ticket), ticket.member, at);
}

Outcome SharedControl::wait(int rank, const Ticket& ticket, Location at) {
  Meeting* meeting = meeting_of(ticket);
  quiescence_.wait(rank, *meeting, ticket.member, at);
  return {meeting->start, meeting->end, meeting->records[0].label, meeting->agreed(), meeting->handles};
}

SplitOutcome SharedControl::wait_split(int rank, const Ticket& ticket, Location at) {
  Meeting* meeting = meeting_of(ticket);
  quiescence_.wait(rank, *meeting, ticket.member, at);
  const Seat seat = meeting->split[static_cast<std::size_t>(ticket.member)];
  SplitOutcome outcome{meeting->start, meeting->end, std::nullopt};
  if (seat.in.group) {
    own(rank).seats.push_back(seat);
    outcome.made = seat.in;
  }
  leave(rank, ticket);
  return outcome;
}

const Inbox& SharedControl::inbox(int rank, std::uint32_t group) {
  const auto [found, is_new] = own(rank).inboxes.try_emplace(group);
  if (is_new) {
    const Membership in = own(rank).seats[group].in;
    for (int from = 0; from < static_cast<int>(in.group->members->size()); ++from) {
      found->second.push_back(from == in.member ? nullptr : &channel(rank, group, from, in.member));
    }
  }
  return found->second;
}

void SharedControl::leave(int rank, const Ticket& ticket) {
  unref(rank, meeting_of(ticket));
}

std::optional<Outcome> SharedControl::known(const Ticket& ticket) const {
  const Meeting* meeting = meeting_of(ticket);
  if (!meeting->resolved.load(std::memory_order_acquire)) return std::nullopt;  // acquire: Meeting, invariant 3
  return Outcome{meeting->start, meeting->end, meeting->records[0].label, meeting->agreed(), meeting->handles};
}

void SharedControl::restart_clock(int rank) {
  for (std::size_t link = 0; link < kLinks; ++link) {
    if (own(rank).lane_tail[link]) unref(rank, own(rank).lane_tail[link]);
    own(rank).lane_tail[link] = nullptr;
    own(rank).lane_end[link] = Nanos(0);
  }
}

void SharedControl::finish(int rank, const std::optional<Failure>& failure, const std::string& last_call,
                           Location last) {
  quiescence_.finish(rank, failure, last_call, last);
}

// Called by a thread of the fabric's own, perhaps at the moment at which the operation comes to its end after all. What
// its members have posted can be read as long as the reference is held, and only if it is resolved: a meeting that is
// not is used by another operation by now, whose members may be posting.
void SharedControl::report_stuck(const back::Exchange* exchange, const std::string& why) {
  Meeting* meeting = pool_.hold(exchange);
  const bool is_it = meeting && meeting->resolved.load(std::memory_order_acquire);  // acquire: Meeting, invariant 3
  quiescence_.fail(is_it ? hang(told(*meeting), why) : hang(why));
  if (meeting && meeting->references.fetch_sub(1, std::memory_order_acq_rel) == 1) pool_.put_back(meeting);
}

}  // namespace shardlings::front

#include "front/group/shared_control.h"

#include <algorithm>

#include "front/trace/counters.h"
#include "shardlings/error.h"

namespace shardlings::front {
namespace {

constexpr std::size_t kSurplus = 16;

std::uint32_t word(Phase phase) {
  return static_cast<std::uint32_t>(phase);
}

Meeting* meeting_of(Ticket ticket) {
  return reinterpret_cast<Meeting*>(ticket);
}
Ticket ticket_of(Meeting* meeting) {
  return reinterpret_cast<Ticket>(meeting);
}

}  // namespace

SharedControl::SharedControl(int ranks, const Cluster& cluster, back::Engine& engine, back::Fabric& fabric,
                             BlackBox* black_box, bool checks)
    : engine_(engine),
      fabric_(fabric),
      costs_(cluster),
      checks_(checks),
      black_box_(black_box),
      members_(static_cast<std::size_t>(ranks)),
      runnable_(ranks),
      status_(static_cast<std::size_t>(ranks)) {
  auto world = std::make_unique<GroupInfo>();
  world->name = "world";
  for (int r = 0; r < ranks; ++r) world->members.push_back(r);
  world->link = costs_.node_of(0) == costs_.node_of(ranks - 1) ? Link::intra_node : Link::inter_node;
  groups_.push_back(std::move(world));
  fabric_.watch([this](const back::Exchange* exchange, const std::string& why) { report_stuck(exchange, why); });
}

SharedControl::~SharedControl() {
  fabric_.watch({});
}

Meeting* SharedControl::make_meeting() {
  all_.push_back(std::make_unique<Meeting>());
  all_.back()->exchange = fabric_.make_exchange();
  return all_.back().get();
}

// Meetings wander from the rank that comes first to the one that leaves last, so surplus goes round through `spare_`.
Meeting* SharedControl::fresh(int rank) {
  auto& spare = members_[static_cast<std::size_t>(rank)].spare;
  if (spare.empty()) {
    const std::lock_guard guard(tables_);
    if (spare_.empty()) return make_meeting();
    const std::size_t taken = std::min(kSurplus, spare_.size());
    spare.assign(spare_.end() - static_cast<std::ptrdiff_t>(taken), spare_.end());
    spare_.resize(spare_.size() - taken);
  }
  Meeting* meeting = spare.back();
  spare.pop_back();
  return meeting;
}

void SharedControl::recycle(int rank, Meeting* meeting) {
  auto& spare = members_[static_cast<std::size_t>(rank)].spare;
  spare.push_back(meeting);
  if (spare.size() < 2 * kSurplus) return;
  const std::lock_guard guard(tables_);
  spare_.insert(spare_.end(), spare.end() - static_cast<std::ptrdiff_t>(kSurplus), spare.end());
  spare.resize(spare.size() - kSurplus);
}

void SharedControl::unref(int rank, Meeting* meeting) {
  if (meeting->references.fetch_sub(1, std::memory_order_acq_rel) == 1) recycle(rank, meeting);
}

Meeting* SharedControl::step(int rank, Meeting*& place, const GroupInfo& group, bool message, int from, int to) {
  Meeting* next = place->next.load(std::memory_order_acquire);
  if (!next) {
    Meeting* made = fresh(rank);
    const int members = message ? 2 : static_cast<int>(group.members.size());
    made->reset(members, 2 * members);
    made->group = &group;
    made->number = place->number + 1;
    made->message = message;
    made->from = from;
    made->to = to;
    made->link = group.link;
    made->exchange->begin(members);
    if (place->next.compare_exchange_strong(next, made, std::memory_order_acq_rel)) {
      next = made;
    } else {
      recycle(rank, made);
    }
  }
  unref(rank, place);
  place = next;
  return next;
}

SharedControl::Place& SharedControl::place_in(int rank, std::uint32_t group) {
  auto& places = members_[static_cast<std::size_t>(rank)].places;
  if (places.size() <= group) places.resize(group + 1);
  Place& place = places[group];
  if (place.group) return place;
  const std::lock_guard guard(tables_);
  place.group = groups_[group].get();
  if (chain_heads_.size() <= group) chain_heads_.resize(group + 1);
  if (!chain_heads_[group]) {
    const int members = static_cast<int>(place.group->members.size());
    chain_heads_[group] = make_meeting();
    chain_heads_[group]->reset(members, members);
  }
  place.last = chain_heads_[group];
  return place;
}

Ticket SharedControl::post(int rank, std::uint32_t group, int member, const CallRecord& record,
                           const back::Buffers& buffers) {
  Place& place = place_in(rank, group);
  Meeting* meeting = step(rank, place.last, *place.group, false, 0, 0);
  const auto m = static_cast<std::size_t>(member);
  meeting->records[m] = record;
  meeting->cookies[m] = meeting->exchange->post(member, record.plan, buffers);
  take_lane(rank, meeting, member);
  meeting->posted[m].store(true, std::memory_order_release);
  if (meeting->missing.fetch_sub(1, std::memory_order_acq_rel) == 1) complete_posting(rank, meeting);
  return ticket_of(meeting);
}

Meeting*& SharedControl::channel(int rank, std::uint32_t group, int from, int to) {
  const auto key =
      (std::uint64_t{group} << 40) | (static_cast<std::uint64_t>(from) << 20) | static_cast<std::uint64_t>(to);
  Meeting*& place = members_[static_cast<std::size_t>(rank)].channels[key];
  if (!place) {
    const std::lock_guard guard(tables_);
    Meeting*& head = channel_heads_[{group, from, to}];
    if (!head) {
      head = make_meeting();
      head->reset(2, 2);
    }
    place = head;
  }
  return place;
}

Ticket SharedControl::post_message(int rank, std::uint32_t group, int from, int to, bool sends,
                                   const CallRecord& record, const back::Buffers& buffers) {
  const GroupInfo& info = *place_in(rank, group).group;
  Meeting* meeting = step(rank, channel(rank, group, from, to), info, true, from, to);
  const std::size_t m = sends ? 0 : 1;
  meeting->records[m] = record;
  meeting->predecessors[m] = nullptr;
  meeting->cookies[m] = meeting->exchange->post(static_cast<int>(m), record.plan, buffers);
  meeting->posted[m].store(true, std::memory_order_release);
  if (meeting->missing.fetch_sub(1, std::memory_order_acq_rel) == 1) complete_posting(rank, meeting);
  return ticket_of(meeting);
}

void SharedControl::take_lane(int rank, Meeting* meeting, int member) {
  Member& own = members_[static_cast<std::size_t>(rank)];
  const auto link = static_cast<std::size_t>(meeting->link);
  const auto m = static_cast<std::size_t>(member);
  Meeting*& tail = own.lane_tail[link];
  meeting->predecessors[m] = nullptr;
  if (tail && tail->resolved.load(std::memory_order_acquire)) {
    own.lane_end[link] = tail->end;
    unref(rank, tail);
    tail = nullptr;
  }
  if (tail) {
    meeting->predecessors[m] = tail;  // the lane's reference goes along; dropped when this meeting is resolved
  } else {
    meeting->records[m].lane_free = own.lane_end[link];
  }
  meeting->references.fetch_add(1, std::memory_order_relaxed);
  tail = meeting;
}

void SharedControl::complete_posting(int rank, Meeting* meeting) {
  if (checks_ && !disagreement(*meeting).empty()) {
    const std::lock_guard guard(lock_);
    meeting->mismatch = true;
    mismatches_.push_back(meeting);
    return;  // never resolved: its members will block, and the judge will say why
  }
  const auto open = [](const Meeting* p) { return p && !p->resolved.load(std::memory_order_acquire); };
  if (std::any_of(meeting->predecessors.begin(), meeting->predecessors.end(), open)) {
    const std::lock_guard guard(lock_);
    for (Meeting* predecessor : meeting->predecessors) {
      if (!predecessor) continue;
      // Order: announce, then look. The resolver sets `resolved`, then looks for announcements.
      predecessor->has_successors.store(true, std::memory_order_seq_cst);
      if (predecessor->resolved.load(std::memory_order_seq_cst)) continue;
      predecessor->successors.push_back(meeting);
      ++meeting->waiting_for;
    }
    if (meeting->waiting_for > 0) return;
  }
  resolve(rank, meeting);
}

void SharedControl::resolve(int rank, Meeting* first) {
  std::vector<Meeting*> work{first};
  while (!work.empty()) {
    Meeting* meeting = work.back();
    work.pop_back();
    set_times(meeting);
    if (meeting->agreed().kind == Collective::split) make_groups(meeting);
    meeting->references.fetch_add(1, std::memory_order_relaxed);  // ours, while others may finish with it
    const std::vector<Meeting*> predecessors = meeting->predecessors;
    meeting->resolved.store(true, std::memory_order_seq_cst);
    const bool in_place = meeting->exchange->launch(meeting->agreed(), meeting->cookies);
    set_phase(meeting, in_place ? Phase::done : Phase::ready);
    for (Meeting* predecessor : predecessors) {
      if (predecessor) unref(rank, predecessor);
    }
    if (meeting->has_successors.load(std::memory_order_seq_cst)) {
      const std::lock_guard guard(lock_);
      for (Meeting* successor : meeting->successors) {
        if (--successor->waiting_for == 0) work.push_back(successor);
      }
      meeting->successors.clear();
    }
    unref(rank, meeting);
  }
}

void SharedControl::set_times(Meeting* meeting) {
  Nanos start;
  if (meeting->message) {
    const CallRecord& send = meeting->records[0];
    const CallRecord& receive = meeting->records[1];
    const Link link = costs_.link_between(meeting->rank_of(0), meeting->rank_of(1));
    meeting->start = std::max(send.lane_free, receive.posted);
    meeting->end =
        meeting->start + costs_.latency(link) + costs_.occupancy(bytes_of(send.plan.count, send.plan.dtype), link);
    return;
  }
  for (std::size_t m = 0; m < meeting->records.size(); ++m) {
    const Meeting* predecessor = meeting->predecessors[m];
    const Nanos free = predecessor ? predecessor->end : meeting->records[m].lane_free;
    start = std::max({start, meeting->records[m].posted, free});
  }
  meeting->start = start;
  meeting->end = start + costs_.collective(meeting->agreed(), meeting->link);
}

void SharedControl::set_phase(Meeting* meeting, Phase phase) {
  meeting->phase.store(word(phase), std::memory_order_seq_cst);
  if (meeting->parked.load(std::memory_order_seq_cst) == 0) return;
  {
    // The waker moves the count: a rank that is about to run must not be taken for blocked.
    const std::lock_guard guard(lock_);
    for (int member = 0; member < meeting->members(); ++member) {
      const auto rank = static_cast<std::size_t>(meeting->rank_of(member));
      if (status_[rank].blocked_in != meeting) continue;
      status_[rank].state = RankState::running;
      status_[rank].blocked_in = nullptr;
      ++runnable_;
      members_[rank].asleep.store(false, std::memory_order_release);
    }
    meeting->parked.store(0, std::memory_order_relaxed);
  }
  engine_.wake(meeting->phase);
}

void SharedControl::wait_for(int rank, Meeting* meeting, int member, Location at) {
  for (;;) {
    const std::uint32_t phase = meeting->phase.load(std::memory_order_acquire);
    if (phase == word(Phase::done)) return;
    if (phase == word(Phase::aborted)) throw Aborted("the run has failed; see its report", at);
    if (phase == word(Phase::ready) && meeting->exchange->help(member) == back::Progress::complete) {
      set_phase(meeting, Phase::done);
      return;
    }
    if (!engine_.spin(meeting->phase, phase)) sleep(rank, meeting, phase, at);
  }
}

void SharedControl::sleep(int rank, Meeting* meeting, std::uint32_t phase, Location at) {
  const auto r = static_cast<std::size_t>(rank);
  {
    const std::lock_guard guard(lock_);
    if (aborted()) throw Aborted("the run has failed; see its report", at);
    meeting->parked.fetch_add(1, std::memory_order_seq_cst);
    if (meeting->phase.load(std::memory_order_seq_cst) != phase) {
      meeting->parked.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    status_[r].state = RankState::blocked;
    status_[r].blocked_in = meeting;
    status_[r].at = at;
    members_[r].asleep.store(true, std::memory_order_relaxed);
    if (black_box_) black_box_->entries[r].state.store(static_cast<std::uint32_t>(RankState::blocked));
    --runnable_;
    judge_if_still();
  }
  while (meeting->phase.load(std::memory_order_acquire) == phase) engine_.park(meeting->phase, phase);
  if (members_[r].asleep.load(std::memory_order_acquire)) {
    // Awake before the waker has moved the count: move it ourselves.
    const std::lock_guard guard(lock_);
    if (status_[r].blocked_in == meeting && !aborted()) {
      status_[r].state = RankState::running;
      status_[r].blocked_in = nullptr;
      ++runnable_;
      meeting->parked.fetch_sub(1, std::memory_order_relaxed);
    }
    members_[r].asleep.store(false, std::memory_order_relaxed);
  }
  if (black_box_) black_box_->entries[r].state.store(static_cast<std::uint32_t>(RankState::running));
}

void SharedControl::judge_if_still() {
  if (runnable_ > 0 || aborted()) return;
  fail(judge(status_, mismatches_));
}

void SharedControl::fail(const std::optional<Failure>& failure) {
  failure_ = failure;
  aborted_.store(true, std::memory_order_seq_cst);
  fabric_.abort();
  for (const RankStatus& status : status_) {
    if (!status.blocked_in) continue;
    status.blocked_in->phase.store(word(Phase::aborted), std::memory_order_seq_cst);
    engine_.wake(status.blocked_in->phase);
  }
}

void SharedControl::report_stuck(const back::Exchange* exchange, const std::string& why) {
  const std::lock_guard guard(lock_);
  if (failure_) return;
  const Meeting* meeting = nullptr;
  {
    const std::lock_guard tables(tables_);
    for (const auto& made : all_) {
      if (made->exchange.get() == exchange) meeting = made.get();
    }
  }
  fail(hang(meeting, why));
}

Outcome SharedControl::wait(int rank, Ticket ticket, Location at) {
  Meeting* meeting = meeting_of(ticket);
  const int member = meeting->member_of(rank);
  wait_for(rank, meeting, member, at);
  meeting->exchange->finish(member);
  const Outcome outcome{meeting->start, meeting->end, meeting->records[0].label, meeting->exchange->marks(member)};
  unref(rank, meeting);
  return outcome;
}

std::optional<Outcome> SharedControl::known(Ticket ticket) const {
  const Meeting* meeting = meeting_of(ticket);
  if (!meeting->resolved.load(std::memory_order_acquire)) return std::nullopt;
  return Outcome{meeting->start, meeting->end, meeting->records[0].label};
}

void SharedControl::abandon(int, Ticket) noexcept {
  // The ticket's reference stays: the meeting's buffers may still be written, so it is never used again.
}

void SharedControl::restart_clock(int rank) {
  Member& own = members_[static_cast<std::size_t>(rank)];
  for (std::size_t link = 0; link < kLinks; ++link) {
    if (own.lane_tail[link]) unref(rank, own.lane_tail[link]);
    own.lane_tail[link] = nullptr;
    own.lane_end[link] = Nanos(0);
  }
}

void SharedControl::finish(int rank, const std::optional<Failure>& failure, const std::string& last_call,
                           Location last) {
  const auto r = static_cast<std::size_t>(rank);
  const std::lock_guard guard(lock_);
  status_[r].state = failure ? RankState::failed : RankState::finished;
  status_[r].failure = failure;
  status_[r].last_call = last_call;
  status_[r].last = last;
  if (black_box_) black_box_->entries[r].state.store(static_cast<std::uint32_t>(status_[r].state));
  if (aborted()) return;
  --runnable_;
  judge_if_still();
}

std::optional<Failure> SharedControl::failure() {
  const std::lock_guard guard(lock_);
  return failure_;
}

}  // namespace shardlings::front

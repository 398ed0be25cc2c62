// The communication side of a rank's clock and counters.
#include <algorithm>

#include "front/group/rank_groups.h"
#include "front/group/wire.h"

namespace shardlings::front {
namespace {

Lane lane_of(Link link) {
  return link == Link::intra_node ? Lane::intra_node : Lane::inter_node;
}

}  // namespace

void RankGroups::restart_clock() {
  egress_ = {};
  ingress_ = {};
  control_.restart_clock(rank_.id());
}

void RankGroups::count(const GroupOperation& work) {
  const Wire wire = wire_of(work.signature, work.ticket.member);
  Traffic& traffic = rank_.counters().traffic[{work.signature.kind, work.group->name, work.link}];
  ++traffic.calls;
  traffic.sent += wire.sent;
  traffic.received += wire.received;
}

void RankGroups::pass_time(GroupOperation& work, Location at) {
  const Nanos start = work.done->times.start;
  Nanos end = work.done->times.end;
  if (work.signature.kind == Collective::send_recv && !work.sends) {
    // Several messages may have arrived at once: the receiver's link takes them one after another, in the order of
    // the waits (rule 4).
    Nanos& ingress = ingress_[static_cast<std::size_t>(work.link)];
    end = std::max(end, ingress + rank_.costs().occupancy(work.out.bytes(), work.link));
    ingress = end;
  }
  const Nanos now = rank_.now();
  const Nanos transfer = end - start;
  const Nanos exposed = std::max(Nanos(0), end - std::max(now, start));
  Counters& counters = rank_.counters();
  counters.waited_for_peers += std::max(Nanos(0), std::min(start, end) - now);
  counters.exposed_transfer += exposed;
  counters.overlapped_transfer += transfer - exposed;
  counters.busy[static_cast<std::size_t>(lane_of(work.link))] += transfer;
  rank_.advance_to(end);
  if (rank_.trace().enabled()) add_events(work, end, now, at);
}

/// All but its times.
Event RankGroups::event_of(const GroupOperation& work) {
  Event event;
  event.kind = EventKind::collective;
  if (work.signature.kind == Collective::send_recv) event.kind = work.sends ? EventKind::send : EventKind::recv;
  event.lane = lane_of(work.link);
  event.name = rank_.trace().name(work.name());
  event.group = rank_.trace().group(work.group->name, work.group->members);
  event.peer = work.peer;
  if (event.kind == EventKind::collective) {
    const int receiver = receiver_of(work.signature, work.ticket.member);
    if (receiver >= 0) event.peer = work.group->members[static_cast<std::size_t>(receiver)];
  }
  event.label = work.in ? work.in.label : work.out.label;
  event.at = work.at;
  event.order = work.order;
  event.posted = work.posted;
  event.bytes = wire_of(work.signature, work.ticket.member).sent;
  event.live_after = rank_.live();
  return event;
}

void RankGroups::add_events(const GroupOperation& work, Nanos end, Nanos now, Location at) {
  Event event = event_of(work);
  if (event.kind == EventKind::recv) event.label = work.done->label;
  event.begin = work.done->times.start;
  event.end = end;
  rank_.trace().add(event, work.done->marks);
  event.peer = work.peer;  // of a message; waiting for a collective is for all of its members
  if (end > now) rank_.trace().add(waiting(event, now, at));
}

void RankGroups::GroupOperation::trace_in_flight() {
  Event event = owner_.event_of(*this);
  Times times{posted, owner_.rank_.now()};
  if (done) {
    times = done->times;
  } else if (const auto outcome = owner_.control_.known(ticket)) {
    times = {outcome->start, outcome->end};
  }
  event.begin = times.start;
  event.end = times.end;
  owner_.rank_.trace().add(event);
}

}  // namespace shardlings::front

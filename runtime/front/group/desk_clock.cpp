// The communication side of a rank's clock and counters.
#include <algorithm>

#include "front/group/desk.h"
#include "front/group/wire.h"

namespace shardlings::front {
namespace {

Lane lane_of(Link link) {
  return link == Link::intra_node ? Lane::intra_node : Lane::inter_node;
}

}  // namespace

void GroupDesk::restart_clock() {
  egress_ = {};
  ingress_ = {};
  control_.restart_clock(front_.rank());
}

void GroupDesk::count(const GroupWork& work) {
  const Wire wire = wire_of(work.plan, work.ticket.member);
  Traffic& traffic = front_.counters().traffic[{work.plan.kind, work.group->name, work.link}];
  ++traffic.calls;
  traffic.sent += wire.sent;
  traffic.received += wire.received;
}

void GroupDesk::pass_time(GroupWork& work, Location at) {
  const Nanos start = work.done->times.start;
  Nanos end = work.done->times.end;
  if (work.plan.kind == Collective::send_recv && !work.sends) {
    // Several messages may have arrived at once: the receiver's link takes them one after another, in the order of
    // the waits (rule 4).
    Nanos& ingress = ingress_[static_cast<std::size_t>(work.link)];
    end = std::max(end, ingress + front_.costs().occupancy(work.out.bytes(), work.link));
    ingress = end;
  }
  const Nanos now = front_.now();
  const Nanos transfer = end - start;
  const Nanos exposed = std::max(Nanos(0), end - std::max(now, start));
  Counters& counters = front_.counters();
  counters.waited_for_peers += std::max(Nanos(0), std::min(start, end) - now);
  counters.exposed_transfer += exposed;
  counters.overlapped_transfer += transfer - exposed;
  counters.busy[static_cast<std::size_t>(lane_of(work.link))] += transfer;
  front_.advance_to(end);
  if (front_.trace().enabled()) add_events(work, end, now, at);
}

/// All but its times.
Event GroupDesk::event_of(const GroupWork& work) {
  Event event;
  event.kind = EventKind::collective;
  if (work.plan.kind == Collective::send_recv) event.kind = work.sends ? EventKind::send : EventKind::recv;
  event.lane = lane_of(work.link);
  event.name = front_.trace().name(work.name());
  event.group = front_.trace().group(work.group->name, work.group->members);
  event.peer = work.peer;
  if (event.kind == EventKind::collective) {
    const int receiver = receiver_of(work.plan, work.ticket.member);
    if (receiver >= 0) event.peer = work.group->members[static_cast<std::size_t>(receiver)];
  }
  event.label = work.in ? work.in.label : work.out.label;
  event.at = work.at;
  event.order = work.order;
  event.posted = work.posted;
  event.bytes = wire_of(work.plan, work.ticket.member).sent;
  event.live_after = front_.live();
  return event;
}

void GroupDesk::add_events(const GroupWork& work, Nanos end, Nanos now, Location at) {
  Event event = event_of(work);
  if (event.kind == EventKind::recv) event.label = work.done->label;
  event.begin = work.done->times.start;
  event.end = end;
  front_.trace().add(event, work.done->marks);
  event.peer = work.peer;  // of a message; waiting for a collective is for all of its members
  if (end > now) front_.trace().add(waiting(event, now, at));
}

void GroupDesk::GroupWork::trace_in_flight() {
  Event event = desk_.event_of(*this);
  Times times{posted, desk_.front_.now()};
  if (done) {
    times = done->times;
  } else if (const auto outcome = desk_.control_.known(ticket)) {
    times = {outcome->start, outcome->end};
  }
  event.begin = times.start;
  event.end = times.end;
  desk_.front_.trace().add(event);
}

}  // namespace shardlings::front

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

void GroupDesk::count(const Pending& pending, Link link) {
  const Wire wire = wire_of(pending.plan, pending.member);
  Traffic& traffic = front_.counters().traffic[{pending.plan.kind, groups_[pending.group].name, link}];
  ++traffic.calls;
  traffic.sent += wire.sent;
  traffic.received += wire.received;
}

void GroupDesk::finish(Pending& pending, Location at) {
  const Outcome outcome = control_.wait(front_.rank(), pending.ticket, at);
  Link link = groups_[pending.group].link;
  if (pending.plan.kind == Collective::send_recv) {
    link = front_.costs().link_between(front_.rank(), pending.peer);
    if (!pending.sends && pending.out) {
      front_.storages().at(pending.out.ref.storage).label.micro = outcome.label.micro;
      front_.label_whole(pending.out, outcome.label);
    }
  } else if (pending.in && pending.out) {
    front_.label_whole(pending.out, pending.in.label);
  }
  pass_time(pending, outcome, link, at);
}

void GroupDesk::pass_time(const Pending& pending, const Outcome& outcome, Link link, Location at) {
  Nanos end = outcome.end;
  if (pending.plan.kind == Collective::send_recv && !pending.sends) {
    // Several messages may have arrived at once: the receiver's link takes them one after another, in the order of
    // the waits (rule 4).
    Nanos& ingress = ingress_[static_cast<std::size_t>(link)];
    end = std::max(end, ingress + front_.costs().occupancy(pending.out.bytes(), link));
    ingress = end;
  }
  const Nanos now = front_.now();
  const Nanos transfer = end - outcome.start;
  const Nanos exposed = std::max(Nanos(0), end - std::max(now, outcome.start));
  Counters& counters = front_.counters();
  counters.waited_for_peers += std::max(Nanos(0), std::min(outcome.start, end) - now);
  counters.exposed_transfer += exposed;
  counters.overlapped_transfer += transfer - exposed;
  counters.busy[static_cast<std::size_t>(lane_of(link))] += transfer;
  front_.advance_to(end);
  if (!front_.trace().enabled()) return;
  Event event;
  event.kind = EventKind::collective;
  const char* name = back::name_of(pending.plan.kind);
  if (pending.plan.kind == Collective::send_recv) {
    event.kind = pending.sends ? EventKind::send : EventKind::recv;
    name = pending.sends ? "send" : "recv";
  }
  event.lane = lane_of(link);
  event.name = front_.trace().name(name);
  const GroupInfo& group = groups_[pending.group];
  event.group = front_.trace().group(group.name, group.members);
  event.peer = pending.peer;
  if (event.kind == EventKind::collective) {
    const int receiver = receiver_of(pending.plan, pending.member);
    if (receiver >= 0) event.peer = group.members[static_cast<std::size_t>(receiver)];
  }
  event.label = pending.in ? pending.in.label : pending.out.label;
  if (event.kind == EventKind::recv) event.label = outcome.label;
  event.at = pending.at;
  event.order = pending.order;
  event.begin = outcome.start;
  event.end = end;
  event.posted = pending.posted;
  event.bytes = pending.sent;
  event.live_after = front_.ledger().live();
  front_.trace().add(event);
  if (end <= now) return;
  event.kind = EventKind::wait;
  event.lane = Lane::compute;
  event.at = at;
  event.begin = now;
  event.posted = now;
  event.bytes = Bytes(0);
  front_.trace().add(event);
}

}  // namespace shardlings::front

#include "front/group/group_operation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/dtype.h"
#include "front/group/mover.h"
#include "front/group/placement.h"
#include "front/group/ring_traffic.h"
#include "shardlings/error.h"

namespace shardlings::front {
namespace {

Lane lane_of(Link link) {
  return link == Link::intra_node ? Lane::intra_node : Lane::inter_node;
}

}  // namespace

GroupContext::Known& GroupContext::known(Collective kind, const GroupInfo& group, Link link) {
  static_assert(sizeof group >= 64, "so different groups mostly have different places");
  const std::size_t place = (reinterpret_cast<std::uintptr_t>(&group) / 64 + static_cast<std::size_t>(kind) +
                             known_.size() / 2 * static_cast<std::size_t>(link)) %
                            known_.size();
  return known_[place];
}

void GroupContext::ask_for_revocation() const {
  const Revocation now = control.revocation();
  if (now.number != revocation) throw Revoked{now};
}

CallRecord GroupOperation::record() {
  CallRecord record;
  record.signature = signature;
  record.at = at;
  record.order = order;
  record.posted = posted;
  record.from_any = from_any;
  if (signature.kind != Collective::send_recv) return record;
  record.label = sends ? in.label : out.label;
  if (sends) {
    // The sender's link is taken in the order of the posts, whether the receiver is there or not (rule 4).
    Nanos& egress = of_.egress[static_cast<std::size_t>(link)];
    record.lane_free = std::max(of_.rank.now(), egress);
    egress = record.lane_free + of_.rank.costs().occupancy(of_.rank.costs().of_message(in.bytes(), in.dtype()), link);
  }
  return record;
}

void GroupOperation::post(const CallRecord& record) {
  count();
  const back::DataHandle data = ticket.mover->post(ticket.member, signature, {&of_.rank.device(), in.data, out.data});
  of_.control.post(of_.rank.id(), ticket, record, data);
}

Bytes GroupOperation::wire_bytes(Bytes seen) const {
  const CostModel& costs = of_.rank.costs();
  return signature.kind == Collective::send_recv ? costs.of_message(seen, signature.dtype)
                                                 : costs.on_wire(seen, signature.dtype);
}

bool GroupOperation::is_like(const GroupContext::Known& last) const {
  const back::Signature& other = last.signature;
  return last.group == group && last.link == link && last.member == ticket.member && other.count == signature.count &&
         other.kind == signature.kind && other.dtype == signature.dtype && other.root == signature.root;
}

GroupContext::Known GroupOperation::traffic() const {
  const auto on_wire = [&](const RingTraffic& seen) {
    return RingTraffic{wire_bytes(seen.sent), wire_bytes(seen.received)};
  };
  const auto counter = [&](Link of) { return &of_.rank.counters().traffic[{signature.kind, group->name, of}]; };
  GroupContext::Known of{group, link, signature, ticket.member, counter(link), {}, nullptr, {}};
  of.moved = on_wire(ring_traffic_of(signature, ticket.member));
  // What of a collective over several nodes stays inside them is counted there, and the call where its lane is.
  if (link == Link::inter_node && signature.kind != Collective::send_recv) {
    const RingTraffic crossing = on_wire(traffic_between_nodes(signature, ticket.member, group->placement));
    of.inside = {of.moved.sent - crossing.sent, of.moved.received - crossing.received};
    if (of.inside.sent > Bytes(0) || of.inside.received > Bytes(0)) of.within = counter(Link::intra_node);
    of.moved = crossing;
  }
  return of;
}

// A program moves as much again and again: what is known of the last operations is mostly what is asked for.
void GroupOperation::count() {
  GroupContext::Known& last = of_.known(signature.kind, *group, link);
  if (!is_like(last)) last = traffic();
  ++last.traffic->calls;
  last.traffic->sent += last.moved.sent;
  last.traffic->received += last.moved.received;
  if (last.within == nullptr) return;
  last.within->sent += last.inside.sent;
  last.within->received += last.inside.received;
}

Times GroupOperation::settle(Location at) {
  if (!done_) {
    const Outcome outcome = agreed(at);
    const back::Marks marks = ticket.mover->finish(ticket.member, outcome.signature, outcome.handles);
    done_.emplace(Done{{outcome.start, arrival(outcome.end)}, outcome.label, marks});
    of_.control.leave(of_.rank.id(), ticket);
    label_result();
  }
  return done_->times;
}

void GroupOperation::revoke() {
  ticket.mover->revoke(ticket.member);
}

Outcome GroupOperation::agreed(Location at) {
  of_.check_revocation();
  try {
    return of_.control.wait(of_.rank.id(), ticket, at);
  } catch (const Aborted&) {
    trace_endless_wait(at);
    throw;
  }
}

int GroupOperation::await_sender(std::uint32_t of) {
  of_.check_revocation();
  try {
    return of_.control.wait_for_any(of_.rank.id(), of, record(), at);
  } catch (const Aborted&) {
    trace_endless_wait(at);
    throw;
  }
}

void GroupOperation::trace_endless_wait(Location at) {
  if (!of_.rank.trace().enabled()) return;
  Event event = waiting(event_without_times(), of_.rank.now(), at);
  event.end = event.begin;
  event.peer = peer;
  of_.rank.trace().add(event);
}

// Several messages may have arrived at once: the receiver's link takes them one after another, in the order in which
// the rank waits for them, or for copies that come after them (rule 4).
Nanos GroupOperation::arrival(Nanos end) {
  if (signature.kind != Collective::send_recv || sends) return end;
  Nanos& ingress = of_.ingress[static_cast<std::size_t>(link)];
  ingress =
      std::max(end, ingress + of_.rank.costs().occupancy(of_.rank.costs().of_message(out.bytes(), out.dtype()), link));
  return ingress;
}

void GroupOperation::label_result() {
  if (!out) return;
  if (signature.kind != Collective::send_recv) {
    if (in) of_.memory.label_whole(out, in.label);
  } else {
    of_.memory.storages().at(out.ref.storage).label.micro = done_->label.micro;
    of_.memory.label_whole(out, done_->label);
  }
}

// Once the control plane has said that it is complete, the compute lane waits for the data.
back::DeviceEvent GroupOperation::event() {
  return of_.rank.device().record(back::DeviceLane::compute);
}

void GroupOperation::pass_time(Location at) {
  const auto [start, end] = done_->times;
  const Nanos now = of_.rank.now();
  const Nanos transfer = end - start;
  const Nanos exposed = std::max(Nanos(0), end - std::max(now, start));
  const Nanos before = transfer - exposed;  // until the program came to wait for this; it may have waited for others
  Counters& counters = of_.rank.counters();
  counters.waited_for_peers += std::max(Nanos(0), std::min(start, end) - now);
  counters.exposed_transfer += exposed;
  counters.overlapped_transfer += before - of_.rank.standstills().within(start, start + before);
  counters.busy[static_cast<std::size_t>(lane_of(link))] += transfer;
  of_.rank.stand_still_until(end);
  if (of_.rank.trace().enabled()) add_events(end, now, at);
}

Event GroupOperation::event_without_times() {
  Trace& trace = of_.rank.trace();
  Event event;
  event.kind = EventKind::collective;
  if (signature.kind == Collective::send_recv) event.kind = sends ? EventKind::send : EventKind::recv;
  event.lane = lane_of(link);
  event.name = trace.name(name());
  event.group = trace.group(group->name, group->members);
  event.peer = peer;
  if (event.kind == EventKind::collective) {
    const int receiver = receiver_of(signature, ticket.member);
    if (receiver >= 0) event.peer = (*group->members)[static_cast<std::size_t>(receiver)];
  }
  event.label = in ? in.label : out.label;
  event.at = at;
  event.order = order;
  event.posted = posted;
  event.bytes = wire_bytes(ring_traffic_of(signature, ticket.member).sent);
  event.live_after = of_.rank.live();
  return event;
}

void GroupOperation::add_events(Nanos end, Nanos now, Location at) {
  Event event = event_without_times();
  if (event.kind == EventKind::recv) event.label = done_->label;
  event.begin = done_->times.start;
  event.end = end;
  of_.rank.trace().add(event, done_->marks);
  event.peer = peer;  // of a message; waiting for a collective is for all of its members
  if (end > now) of_.rank.trace().add(waiting(event, now, at));
}

void GroupOperation::trace_in_flight() {
  Event event = event_without_times();
  Times times{posted, of_.rank.now()};
  if (done_) {
    times = done_->times;
  } else if (const auto outcome = of_.control.known(ticket)) {
    times = {outcome->start, outcome->end};
  }
  event.begin = times.start;
  event.end = times.end;
  of_.rank.trace().add(event);
}

const char* GroupOperation::name() const {
  if (signature.kind != Collective::send_recv) return back::name_of(signature.kind);
  if (from_any) return "recv_any";
  return sends ? "send" : "recv";
}

std::string GroupOperation::describe() const {
  const std::string what = fmt::format("(group {}, {} {})", group->name, signature.count, name_of(signature.dtype));
  if (signature.kind != Collective::send_recv) return fmt::format("{} {}", name(), what);
  return fmt::format("{} {} rank {} {}", name(), sends ? "to" : "from", peer, what);
}

}  // namespace shardlings::front

#include "front/group/desk.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "front/group/wire.h"
#include "front/handlers.h"

namespace shardlings::front {

using detail::Call;
using detail::Ref;
using detail::Reply;

GroupDesk::GroupDesk(RankFront& front, Control& control)
    : front_(front), control_(control), groups_{control.world()}, members_{front.rank()} {}

const GroupInfo& GroupDesk::group(const Call& call) const {
  return groups_[call.group];
}
int GroupDesk::member_of(const Call& call) const {
  return members_[call.group];
}

Reply GroupDesk::collective(const Call& call, Collective kind) {
  if (call.group >= groups_.size() || groups_[call.group].members.empty()) {
    front_.invalid(call, fmt::format("{}: this group is empty (a default-constructed Group, or split with kNobody)",
                                     name_of(call.verb)));
  }
  const Operand in = front_.reading(call, 0);
  const Operand out = front_.writing(call, 1);
  const back::Plan plan = plan_of(call, kind, in, out);
  check_sizes(call, plan, member_of(call), in, out);
  return hand_out(call, start(call, plan, in, out));
}

GroupDesk::Pending GroupDesk::start(const Call& call, const back::Plan& plan, const Operand& in, const Operand& out) {
  CallRecord record;
  record.plan = plan;
  record.at = call.at;
  record.order = front_.order();
  record.posted = front_.now();
  Pending pending;
  pending.plan = plan;
  pending.group = call.group;
  pending.member = member_of(call);
  pending.at = call.at;
  pending.order = front_.order();
  pending.posted = front_.now();
  pending.in = in;
  pending.out = out;
  count(pending, group(call).link);
  pending.sent = wire_of(plan, pending.member).sent;
  pending.ticket =
      control_.post(front_.rank(), call.group, pending.member, record, {&front_.device(), in.data, out.data});
  return pending;
}

GroupDesk::Pending GroupDesk::start_message(const Call& call, bool sends, int peer, const Operand& data) {
  const GroupInfo& info = group(call);
  const int me = member_of(call);
  const int from = sends ? me : peer;
  const int to = sends ? peer : me;
  Pending pending;
  pending.plan.kind = Collective::send_recv;
  pending.plan.dtype = data ? data.dtype() : DType::f32;
  pending.plan.members = 2;
  pending.plan.count = data.size();
  pending.group = call.group;
  pending.member = sends ? 0 : 1;
  pending.peer = info.members[static_cast<std::size_t>(peer)];
  const Link link = front_.costs().link_between(front_.rank(), pending.peer);
  pending.sends = sends;
  pending.at = call.at;
  pending.order = front_.order();
  pending.posted = front_.now();
  (sends ? pending.in : pending.out) = data;
  CallRecord record;
  record.plan = pending.plan;
  record.at = call.at;
  record.order = front_.order();
  record.posted = front_.now();
  record.label = data.label;
  if (sends) {
    // The sender's link is taken in the order of the posts, whether the receiver is there or not (rule 4).
    Nanos& egress = egress_[static_cast<std::size_t>(link)];
    record.lane_free = std::max(front_.now(), egress);
    egress = record.lane_free + front_.costs().occupancy(data.bytes(), link);
  }
  pending.sent = wire_of(pending.plan, pending.member).sent;
  count(pending, link);
  pending.ticket = control_.post_message(front_.rank(), call.group, from, to, sends, record,
                                         {&front_.device(), sends ? data.data : nullptr, sends ? nullptr : data.data});
  return pending;
}

Reply GroupDesk::send(const Call& call) {
  const int peer = static_cast<int>(call.number[0]);
  const Operand data = front_.reading(call, 0);
  if (peer == kNobody) return {};
  check_peer(call, peer, static_cast<int>(group(call).members.size()));
  return hand_out(call, start_message(call, true, peer, data));
}

Reply GroupDesk::recv(const Call& call) {
  const int peer = static_cast<int>(call.number[0]);
  const Operand data = front_.writing(call, 0);
  if (peer == kNobody) return {};
  check_peer(call, peer, static_cast<int>(group(call).members.size()));
  return hand_out(call, start_message(call, false, peer, data));
}

Reply GroupDesk::send_recv(const Call& call) {
  const int to = static_cast<int>(call.number[0]);
  const int from = static_cast<int>(call.number[1]);
  const Operand out = front_.reading(call, 0);
  const Operand in = front_.writing(call, 1);
  const int size = static_cast<int>(group(call).members.size());
  if (to != kNobody) check_peer(call, to, size);
  if (from != kNobody) check_peer(call, from, size);
  if (out && in && out.ref.storage == in.ref.storage &&
      intersect({out.ref.offset, out.ref.offset + out.size()}, {in.ref.offset, in.ref.offset + in.size()}).size() > 0) {
    front_.invalid(call, "send_recv: what is sent and what is received overlap");
  }
  std::vector<Pending> both;
  if (to != kNobody) both.push_back(start_message(call, true, to, out));
  if (from != kNobody) both.push_back(start_message(call, false, from, in));
  for (Pending& pending : both) finish(pending, call.at);
  return {};
}

Reply GroupDesk::split(const Call& call) {
  if (call.group >= groups_.size() || groups_[call.group].members.empty()) {
    front_.invalid(call, "split: this group is empty");
  }
  Pending pending;
  pending.plan.kind = Collective::split;
  pending.plan.members = static_cast<int>(group(call).members.size());
  pending.group = call.group;
  pending.at = call.at;
  pending.order = front_.order();
  pending.posted = front_.now();
  CallRecord record;
  record.plan = pending.plan;
  record.at = call.at;
  record.order = front_.order();
  record.posted = front_.now();
  record.color = static_cast<std::int32_t>(call.number[0]);
  record.key = static_cast<std::int32_t>(call.number[1]);
  record.name = call.text;
  const Ticket ticket =
      control_.post(front_.rank(), call.group, member_of(call), record, {&front_.device(), nullptr, nullptr});
  const SplitOutcome outcome = control_.wait_split(front_.rank(), ticket, call.at);
  pass_time(pending, outcome.time, group(call).link, call.at);
  return outcome.group ? join(*outcome.group) : Reply();
}

Reply GroupDesk::join(const GroupInfo& made) {
  if (groups_.size() <= made.id) {
    groups_.resize(made.id + 1);
    members_.resize(made.id + 1);
  }
  const auto me = std::find(made.members.begin(), made.members.end(), front_.rank());
  members_[made.id] = static_cast<int>(me - made.members.begin());
  groups_[made.id] = made;
  Reply reply;
  reply.group = made.id;
  reply.group_rank = members_[made.id];
  reply.group_size = static_cast<std::int32_t>(made.members.size());
  return reply;
}

Reply GroupDesk::hand_out(const Call& call, Pending pending) {
  Reply reply;
  if (call.blocking) {
    finish(pending, call.at);
    return reply;
  }
  reply.id = next_work_++;
  mark(pending, reply.id);
  pending_.emplace(reply.id, std::move(pending));
  return reply;
}

Reply GroupDesk::wait(const Call& call) {
  const auto found = pending_.find(call.id);
  if (found == pending_.end()) return {};
  Pending& pending = found->second;
  finish(pending, call.at);
  unmark(pending, call.id);
  const std::vector<Ref> kept = std::move(pending.kept);
  pending_.erase(found);
  for (const Ref& ref : kept) front_.free(ref, call.at);
  return {};
}

Reply GroupDesk::keep(const Call& call) {
  const auto found = pending_.find(call.id);
  if (found == pending_.end()) {
    front_.free(call.tensor[0], call.at);  // nothing is in flight any more: keeping until now is all there is to do
  } else {
    found->second.kept.push_back(call.tensor[0]);
  }
  return {};
}

Reply GroupDesk::drop_work(const Call& call) {
  const auto found = pending_.find(call.id);
  if (found == pending_.end()) return {};
  if (front_.options().checks && !control_.aborted()) {
    front_.defer(Misuse::leak,
                 fmt::format("leak: rank {} dropped the Work of {} without wait(): its result may never arrive.\n"
                             "Keep every Work and wait for it before its data are used or the function returns.",
                             front_.rank(), describe(found->second)),
                 found->second.at);
  }
  // Its marks stay: whoever touches the data finds out.
  return {};
}

void GroupDesk::check_end() const {
  if (pending_.empty() || !front_.options().checks) return;
  const Pending* first = nullptr;
  for (const auto& [id, pending] : pending_) {
    if (!first || pending.order < first->order) first = &pending;
  }
  const std::string sentence =
      fmt::format("leak: rank {} returned without wait() for {}{}.\nEvery Work must be waited for.", front_.rank(),
                  describe(*first), pending_.size() > 1 ? fmt::format(" and {} more", pending_.size() - 1) : "");
  throw MisuseError(Misuse::leak, sentence.c_str(), first->at);
}

std::string GroupDesk::describe(const Pending& pending) const {
  const GroupInfo& info = groups_[pending.group];
  if (pending.plan.kind == Collective::send_recv) {
    return fmt::format("{} rank {} (group {}, {} {}) at {}", pending.sends ? "send to" : "recv from", pending.peer,
                       info.name, pending.plan.count, name_of(pending.plan.dtype), to_text(pending.at));
  }
  return fmt::format("{} (group {}, {} {}) at {}", back::name_of(pending.plan.kind), info.name, pending.plan.count,
                     name_of(pending.plan.dtype), to_text(pending.at));
}

void GroupDesk::mark(const Pending& pending, std::uint64_t work) {
  const char* name =
      pending.plan.kind == Collective::send_recv ? (pending.sends ? "send" : "recv") : back::name_of(pending.plan.kind);
  const auto add = [&](const Operand& operand, bool writes) {
    if (!operand || operand.size() == 0) return;
    const Range range{operand.ref.offset, operand.ref.offset + operand.size()};
    front_.storages().at(operand.ref.storage).in_flight.push_back({range, writes, work, name, pending.at});
  };
  add(pending.in, false);
  add(pending.out, true);
}

void GroupDesk::unmark(const Pending& pending, std::uint64_t work) {
  for (const Operand* operand : {&pending.in, &pending.out}) {
    if (!*operand || operand->size() == 0) continue;
    Storage* storage = front_.storages().find(operand->ref.storage, operand->ref.generation);
    if (!storage) continue;
    std::erase_if(storage->in_flight, [&](const InFlight& mark) { return mark.work == work; });
    if (storage->dropped && storage->in_flight.empty()) {
      storage->dropped = false;
      front_.free(operand->ref, pending.at);
    }
  }
}

}  // namespace shardlings::front

#include "front/group/rank_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/access.h"
#include "api/arguments.h"
#include "api/verbs.h"
#include "base/text.h"
#include "front/group/mover.h"
#include "front/pending/pending_table.h"

namespace shardlings::front {

using detail::Call;
using detail::Ref;
using detail::Reply;
namespace unpacked = detail::unpacked;

RankGroups::RankGroups(RankContext& rank, RankMemory& memory, PendingTable& pending, Control& control)
    : rank_(rank), memory_(memory), pending_(pending), control_(control), groups_{control.world(rank.id())} {}

const Membership& RankGroups::membership(const Call& call) const {
  if (call.group < groups_.size()) return groups_[call.group];
  rank_.invalid(call, fmt::format("{}: this rank is in no such group", name_of(call.verb)));
}

Group RankGroups::handle_of(detail::Port& port, const Call& call) const {
  const int size = static_cast<int>(group(call).members.size());
  return detail::Access::group(&port, call.group, member_of(call), size);
}

Reply RankGroups::collective(const Call& call, const Asked& asked) {
  const Operand in = asked.in == Asked::kNone ? Operand() : memory_.reading(call, asked.in);
  const Operand out = asked.out == Asked::kNone ? Operand() : memory_.writing(call, asked.out);
  const back::Signature signature = signature_of(call, asked, in, out);
  check_sizes(call, signature, member_of(call), in, out);
  return pending_.start(call, start(call, signature, in, out));
}

std::shared_ptr<RankGroups::GroupOperation> RankGroups::begin(const Call& call, const back::Signature& signature,
                                                              const Operand& in, const Operand& out) {
  auto work = std::make_shared<GroupOperation>(*this);
  work->signature = signature;
  work->group = &group(call);
  work->link = work->group->link;
  work->at = rank_.place(call);
  work->order = rank_.calls().order();
  work->posted = rank_.now();
  work->in = in;
  work->out = out;
  work->uses = {{in, false}, {out, true}};
  return work;
}

CallRecord RankGroups::record_of(const GroupOperation& work) const {
  CallRecord record;
  record.signature = work.signature;
  record.at = work.at;
  record.order = work.order;
  record.posted = work.posted;
  return record;
}

std::shared_ptr<RankGroups::GroupOperation> RankGroups::start(const Call& call, const back::Signature& signature,
                                                              const Operand& in, const Operand& out) {
  auto work = begin(call, signature, in, out);
  work->ticket = control_.join(rank_.id(), call.group);
  post(*work, record_of(*work));
  return work;
}

void RankGroups::post(GroupOperation& work, const CallRecord& record) {
  count(work);
  const back::DataHandle data =
      work.ticket.mover->post(work.ticket.member, work.signature, {&rank_.device(), work.in.data, work.out.data});
  control_.post(rank_.id(), work.ticket, record, data);
}

std::shared_ptr<RankGroups::GroupOperation> RankGroups::start_message(const Call& call, bool sends, int peer,
                                                                      const Operand& data) {
  const int me = member_of(call);
  back::Signature signature;
  signature.kind = Collective::send_recv;
  signature.dtype = data ? data.dtype() : DType::f32;
  signature.members = 2;
  signature.count = data.size();
  auto work = begin(call, signature, sends ? data : Operand(), sends ? Operand() : data);
  work->peer = work->group->members[static_cast<std::size_t>(peer)];
  work->link = rank_.costs().link_between(rank_.id(), work->peer);
  work->sends = sends;
  CallRecord record = record_of(*work);
  record.label = data.label;
  if (sends) {
    // The sender's link is taken in the order of the posts, whether the receiver is there or not (rule 4).
    Nanos& egress = egress_[static_cast<std::size_t>(work->link)];
    record.lane_free = std::max(rank_.now(), egress);
    egress = record.lane_free + rank_.costs().occupancy(data.bytes(), work->link);
  }
  work->ticket = control_.join_message(rank_.id(), call.group, sends ? me : peer, sends ? peer : me);
  post(*work, record);
  return work;
}

Reply RankGroups::send(const Call& call) {
  const unpacked::send given(call);
  const int peer = given.to;
  const Operand data = memory_.reading(call, given.data);
  if (peer == kNobody) return {};
  check_peer(call, peer, static_cast<int>(group(call).members.size()));
  return pending_.start(call, start_message(call, true, peer, data));
}

Reply RankGroups::recv(const Call& call) {
  const unpacked::recv given(call);
  const int peer = given.from;
  const Operand data = memory_.writing(call, given.data);
  if (peer == kNobody) return {};
  check_peer(call, peer, static_cast<int>(group(call).members.size()));
  return pending_.start(call, start_message(call, false, peer, data));
}

Reply RankGroups::send_recv(const Call& call) {
  const unpacked::send_recv given(call);
  const int to = given.to, from = given.from;
  const Operand out = memory_.reading(call, given.out);
  const Operand in = memory_.writing(call, given.in);
  const int size = static_cast<int>(group(call).members.size());
  if (to != kNobody) check_peer(call, to, size);
  if (from != kNobody) check_peer(call, from, size);
  if (overlap(out, in)) rank_.invalid(call, "send_recv: what is sent and what is received overlap");
  std::vector<std::shared_ptr<PendingOperation>> both;
  if (to != kNobody) both.push_back(start_message(call, true, to, out));
  if (from != kNobody) both.push_back(start_message(call, false, from, in));
  for (const auto& work : both) {
    work->settle(work->at);
    work->pass_time(work->at);
  }
  return {};
}

Reply RankGroups::split(const Call& call) {
  const unpacked::split given(call);
  back::Signature signature;
  signature.kind = Collective::split;
  signature.members = static_cast<int>(group(call).members.size());
  const auto work = begin(call, signature, {}, {});
  CallRecord record = record_of(*work);
  record.color = given.color;
  record.key = given.key;
  record.name = rank_.texts().text(given.name);
  work->ticket = control_.join(rank_.id(), call.group);
  control_.post(rank_.id(), work->ticket, record, {});
  const SplitOutcome outcome = control_.wait_split(rank_.id(), work->ticket, work->at);
  work->done = {{outcome.start, outcome.end}, {}, {}};
  work->pass_time(work->at);
  return outcome.made ? join(*outcome.made) : Reply();
}

Reply RankGroups::join(const Membership& made) {
  Reply reply;
  reply.group = static_cast<std::uint32_t>(groups_.size());
  reply.group_rank = made.member;
  reply.group_size = static_cast<std::int32_t>(made.group->members.size());
  groups_.push_back(made);
  return reply;
}

Times RankGroups::GroupOperation::settle(Location at) {
  if (!done) {
    const int rank = owner_.rank_.id();
    const Outcome outcome = owner_.control_.wait(rank, ticket, at);
    const back::Marks marks = ticket.mover->finish(ticket.member, outcome.signature, outcome.handles);
    done = {{outcome.start, outcome.end}, outcome.label, marks};
    owner_.control_.leave(rank, ticket);
    owner_.label_result(*this);
  }
  return done->times;
}

void RankGroups::label_result(const GroupOperation& work) {
  if (!work.out) return;
  if (work.signature.kind != Collective::send_recv) {
    if (work.in) memory_.label_whole(work.out, work.in.label);
  } else {
    memory_.storages().at(work.out.ref.storage).label.micro = work.done->label.micro;
    memory_.label_whole(work.out, work.done->label);
  }
}

// Once the control plane has said that it is complete, the compute lane waits for the data.
back::DeviceEvent RankGroups::GroupOperation::event() {
  return owner_.rank_.device().record(back::DeviceLane::compute);
}

const char* RankGroups::GroupOperation::name() const {
  if (signature.kind != Collective::send_recv) return back::name_of(signature.kind);
  return sends ? "send" : "recv";
}

std::string RankGroups::describe(const GroupOperation& work) const {
  const std::string what = fmt::format("(group {}, {} {})", work.group->name, work.signature.count,
                                       shardlings::name_of(work.signature.dtype));
  if (work.signature.kind != Collective::send_recv) return fmt::format("{} {}", work.name(), what);
  return fmt::format("{} {} rank {} {}", work.name(), work.sends ? "to" : "from", work.peer, what);
}

}  // namespace shardlings::front

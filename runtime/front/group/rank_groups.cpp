#include "front/group/rank_groups.h"

#include <fmt/format.h>

#include "api/access.h"
#include "api/arguments.h"
#include "api/verbs.h"
#include "base/text.h"
#include "front/group/call_checks.h"

namespace shardlings::front {

using detail::Call;
using detail::Reply;
namespace unpacked = detail::unpacked;

RankGroups::RankGroups(RankContext& rank, RankMemory& memory, PendingTable& pending, Control& control)
    : shared_(rank, memory, control),
      pending_(pending),
      groups_{control.world(rank.id())},
      not_learners_{0},
      repeated_(shared_) {}

const Membership& RankGroups::membership(const Call& call) const {
  if (!shared_.rank.options().deaths.empty()) check_revoked(call);
  if (call.group < groups_.size()) return groups_[call.group];
  shared_.rank.invalid(call, fmt::format("{}: this rank is in no such group", name_of(call.verb)));
}

Group RankGroups::handle_of(detail::Port& port, const Call& call) const {
  const Membership& in = membership(call);
  return detail::Access::group(&port, call.group, in.member, static_cast<int>(in.group->members->size()));
}

void RankGroups::restart_clock() {
  shared_.egress = {};
  shared_.ingress = {};
  shared_.forget_traffic();
  shared_.control.restart_clock(shared_.rank.id());
}

void RankGroups::require(const Call& call, const Operand& operand, const char* name) const {
  if (operand) return;
  shared_.rank.invalid(call, fmt::format("{}: `{}` is empty (moved from, or never allocated). Where a rank's part has "
                                         "no element, give a tensor of size 0",
                                         name_of(call.verb), name));
}

Reply RankGroups::collective(const Call& call, const CollectiveRequest& asked) {
  constexpr int kNone = CollectiveRequest::kNone;
  const Operand in = asked.in.index == kNone ? Operand() : shared_.memory.reading(call, asked.in.index);
  const Operand out = asked.out.index == kNone ? Operand() : shared_.memory.writing(call, asked.out.index);
  const Membership& me = membership(call);
  const auto is_needed = [&](const CollectiveRequest::Tensor& tensor) {
    return tensor.index != kNone && (!tensor.only_on_root || me.member == asked.root);
  };
  if (is_needed(asked.in)) require(call, in, asked.in.name);
  if (is_needed(asked.out)) require(call, out, asked.out.name);
  back::Signature signature;
  signature.kind = asked.kind;
  signature.dtype = in ? in.dtype() : out.dtype();
  signature.reduce = asked.op;
  signature.root = asked.root;
  signature.members = static_cast<int>(me.group->members->size());
  signature.count = count_of(signature, me.member, in, out);
  check_combines(shared_.rank, call, signature);
  check_sizes(shared_.rank, call, signature, me.member, in, out);
  if (watcher_ == nullptr || call.blocking == 0) return pending_.start(call, start(call, signature, in, out));
  watcher_->before(signature);
  const Reply reply = pending_.start(call, start(call, signature, in, out));
  watcher_->after();
  return reply;
}

void RankGroups::check_revoked(const Call& call) const {
  shared_.check_revocation();
  if (call.group >= first_valid_) return;
  const Location at = shared_.rank.place(call);
  throw PeerFailed(
      fmt::format("{}: rank {}: {}: group {} was made before rank {} died, and is revoked. Go on with the "
                  "group of survivors(), and with groups that are split from it",
                  to_text(at), shared_.rank.id(), name_of(call.verb), groups_[call.group].group->name, death_.rank)
          .c_str(),
      at);
}

void RankGroups::give_up(const Revocation& revocation, Location at) {
  shared_.revocation = revocation.number;
  death_ = revocation.death;
  first_valid_ = static_cast<std::uint32_t>(groups_.size());
  pending_.forgive_all(at);
  shared_.control.clear_lanes(shared_.rank.id());
}

void RankGroups::repeat(const Call& call, std::uint32_t group, const back::Signature& signature) {
  repeated_.begin_anew();
  begin(repeated_, groups_[group], call, signature);
  repeated_.ticket = shared_.control.join(shared_.rank.id(), group);
  repeated_.post(record_of(call, group, repeated_));
  repeated_.settle(repeated_.at);
  repeated_.pass_time(repeated_.at);
}

RankGroups::Operation RankGroups::begin(const Call& call, const back::Signature& signature, const Operand& in,
                                        const Operand& out) {
  auto operation = std::make_shared<GroupOperation>(shared_);
  begin(*operation, membership(call), call, signature);
  operation->in = in;
  operation->out = out;
  // While the program stands still in the call itself, nobody else can touch them.
  if (call.blocking == 0) operation->uses = {{in, false}, {out, true}};
  return operation;
}

void RankGroups::begin(GroupOperation& operation, const Membership& in, const Call& call,
                       const back::Signature& signature) const {
  operation.signature = signature;
  operation.group = in.group;
  operation.link = in.group->placement.spread.link();
  operation.at = shared_.rank.place(call);
  operation.order = shared_.rank.calls().order();
  operation.posted = shared_.rank.now();
}

RankGroups::Operation RankGroups::start(const Call& call, const back::Signature& signature, const Operand& in,
                                        const Operand& out) {
  auto operation = begin(call, signature, in, out);
  operation->ticket = shared_.control.join(shared_.rank.id(), call.group);
  operation->post(record_of(call, call.group, *operation));
  return operation;
}

CallRecord RankGroups::record_of(const Call& call, std::uint32_t group, GroupOperation& operation) {
  CallRecord record = operation.record();
  record.not_learners = not_learners_[group];
  record.is_async = call.blocking == 0;
  if (record.at.line == 0) ++not_learners_[group];
  return record;
}

RankGroups::Operation RankGroups::begin_message(const Call& call, bool sends, const Operand& data) {
  back::Signature signature;
  signature.kind = Collective::send_recv;
  signature.dtype = data ? data.dtype() : DType::f32;
  signature.members = 2;
  signature.count = data.size();
  auto operation = begin(call, signature, sends ? data : Operand(), sends ? Operand() : data);
  operation->sends = sends;
  return operation;
}

void RankGroups::post_message(const Call& call, GroupOperation& operation, int peer) {
  const int me = membership(call).member;
  const int from = operation.sends ? me : peer, to = operation.sends ? peer : me;
  operation.peer = (*operation.group->members)[static_cast<std::size_t>(peer)];
  operation.link = shared_.rank.costs().link_between(shared_.rank.id(), operation.peer);
  CallRecord record = operation.record();
  record.is_async = call.blocking == 0;
  operation.ticket = shared_.control.join_message(shared_.rank.id(), call.group, from, to);
  operation.post(record);
}

RankGroups::Operation RankGroups::start_message(const Call& call, bool sends, int peer, const Operand& data) {
  auto operation = begin_message(call, sends, data);
  post_message(call, *operation, peer);
  return operation;
}

Reply RankGroups::send(const Call& call) {
  const unpacked::send given(call);
  const Operand data = shared_.memory.reading(call, given.data);
  if (given.to == kNobody) return {};
  check_peer(shared_.rank, call, membership(call), given.to);
  require(call, data, given.data.name);
  return pending_.start(call, start_message(call, true, given.to, data));
}

Reply RankGroups::recv(const Call& call) {
  const unpacked::recv given(call);
  const Operand data = shared_.memory.writing(call, given.data);
  if (given.from == kNobody) return {};
  check_peer(shared_.rank, call, membership(call), given.from);
  require(call, data, given.data.name);
  return pending_.start(call, start_message(call, false, given.from, data));
}

// Whose message it takes is found out first. Then it is a receive from that rank, posted when the call was made.
Reply RankGroups::recv_any(const Call& call) {
  const unpacked::recv_any given(call);
  const Operand data = shared_.memory.writing(call, given.data);
  const GroupInfo& group = *membership(call).group;
  if (group.members->size() == 1) {
    shared_.rank.invalid(call, fmt::format("recv_any: group {} has no other rank that could send", group.name));
  }
  require(call, data, given.data.name);
  const auto operation = begin_message(call, false, data);
  operation->from_any = true;
  const int from = operation->await_sender(call.group);
  post_message(call, *operation, from);
  Reply reply = pending_.start(call, operation);
  reply.group_rank = from;
  return reply;
}

Reply RankGroups::send_recv(const Call& call) {
  const unpacked::send_recv given(call);
  const int to = given.to, from = given.from;
  const Operand out = shared_.memory.reading(call, given.out);
  const Operand in = shared_.memory.writing(call, given.in);
  const Membership& me = membership(call);
  if (to != kNobody) check_peer(shared_.rank, call, me, to);
  if (from != kNobody) check_peer(shared_.rank, call, me, from);
  if (to != kNobody) require(call, out, given.out.name);
  if (from != kNobody) require(call, in, given.in.name);
  if (overlap(out, in)) shared_.rank.invalid(call, "send_recv: what is sent and what is received overlap");
  std::vector<Operation> both;
  if (to != kNobody) both.push_back(start_message(call, true, to, out));
  if (from != kNobody) both.push_back(start_message(call, false, from, in));
  for (const auto& operation : both) pending_.settle_blocking(operation);
  return {};
}

Reply RankGroups::split(const Call& call) {
  const unpacked::split given(call);
  const int rank = shared_.rank.id();
  back::Signature signature;
  signature.kind = Collective::split;
  signature.members = static_cast<int>(membership(call).group->members->size());
  const auto operation = begin(call, signature, {}, {});
  CallRecord record = record_of(call, call.group, *operation);
  record.color = given.color;
  record.key = given.key;
  record.name = shared_.rank.texts().text(given.name);
  operation->ticket = shared_.control.join(rank, call.group);
  shared_.control.post(rank, operation->ticket, record, {});
  const SplitOutcome outcome = shared_.control.wait_split(rank, operation->ticket, operation->at);
  operation->settle_at({outcome.start, outcome.end});
  operation->pass_time(operation->at);
  return outcome.made ? join(*outcome.made) : Reply();
}

Reply RankGroups::join(const Membership& made) {
  groups_.push_back(made);
  not_learners_.push_back(0);
  return handle_to(static_cast<std::uint32_t>(groups_.size() - 1));
}

Reply RankGroups::handle_to(std::uint32_t group) const {
  Reply reply;
  reply.group = group;
  reply.group_rank = groups_[group].member;
  reply.group_size = static_cast<std::int32_t>(groups_[group].group->members->size());
  return reply;
}

// A rank that has not been told of a death yet is told by the agreement itself.
Reply RankGroups::survivors(const Call& call) {
  const unpacked::survivors given(call);
  RankContext& rank = shared_.rank;
  const Location at = rank.place(call);
  const Nanos now = rank.now();
  const Agreement agreement = shared_.control.agree(rank.id(), now, static_cast<Count>(given.says), at);
  rank.wait_for_peers(call, agreement.time);
  const Revocation revocation = shared_.control.revocation();
  if (revocation.number != shared_.revocation) give_up(revocation, at);
  said_ = agreement.said;
  if (agreement.made) agreed_ = join(*agreement.made).group;
  if (rank.trace().enabled()) trace_agreement(at, now);
  return handle_to(agreed_);
}

// As a barrier of the group that came of it.
void RankGroups::trace_agreement(Location at, Nanos called) {
  RankContext& rank = shared_.rank;
  const GroupInfo& group = *groups_[agreed_].group;
  Event event;
  event.kind = EventKind::collective;
  event.lane = group.placement.spread.link() == Link::intra_node ? Lane::intra_node : Lane::inter_node;
  event.name = rank.trace().name("survivors");
  event.group = rank.trace().group(group.name, group.members);
  event.at = at;
  event.order = rank.calls().order();
  event.posted = called;
  event.begin = event.end = rank.now();
  event.live_after = rank.live();
  rank.trace().add(event);
}

Reply RankGroups::survivor(const Call& call) const {
  const unpacked::survivor given(call);
  if (call.group != agreed_ || !said_ || given.rank < 0 || given.rank >= static_cast<int>(said_->size())) {
    shared_.rank.invalid(call, "survivors: the last one had no such member");
  }
  Reply reply;
  reply.group_rank = (*groups_[agreed_].group->members)[static_cast<std::size_t>(given.rank)];
  reply.id = static_cast<std::uint64_t>((*said_)[static_cast<std::size_t>(given.rank)]);
  return reply;
}

}  // namespace shardlings::front

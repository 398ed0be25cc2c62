#include "front/handlers.h"

#include "front/group/desk.h"

namespace shardlings::front {
namespace {

using detail::Call;
using detail::Reply;
using detail::Verb;

template <Collective kind>
Reply collective(RankFront& front, const Call& call) {
  return front.groups().collective(call, kind);
}

template <Reply (GroupDesk::*method)(const Call&)>
Reply desk(RankFront& front, const Call& call) {
  return (front.groups().*method)(call);
}

}  // namespace

// Collectives: tensor[0] is read, tensor[1] written (the same view if in place), number[0] the ReduceOp, number[1] the
// root. send, recv: tensor[0], number[0] the peer. send_recv: tensor[0] to number[0], tensor[1] from number[1].
void add_group_handlers(HandlerTable& table) {
  const auto set = [&](Verb verb, Handler handler) { table[static_cast<std::size_t>(verb)] = handler; };
  set(Verb::all_reduce, collective<Collective::all_reduce>);
  set(Verb::reduce_scatter, collective<Collective::reduce_scatter>);
  set(Verb::all_gather, collective<Collective::all_gather>);
  set(Verb::broadcast, collective<Collective::broadcast>);
  set(Verb::reduce, collective<Collective::reduce>);
  set(Verb::gather, collective<Collective::gather>);
  set(Verb::scatter, collective<Collective::scatter>);
  set(Verb::all_to_all, collective<Collective::all_to_all>);
  set(Verb::barrier, collective<Collective::barrier>);
  set(Verb::send, desk<&GroupDesk::send>);
  set(Verb::recv, desk<&GroupDesk::recv>);
  set(Verb::send_recv, desk<&GroupDesk::send_recv>);
  set(Verb::split, desk<&GroupDesk::split>);
}

}  // namespace shardlings::front

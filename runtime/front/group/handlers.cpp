#include "front/handlers.h"

#include "api/arguments.h"
#include "front/group/desk.h"

namespace shardlings::front {

using detail::Call;
using detail::Reply;
namespace unpacked = detail::unpacked;

namespace {

template <class Given>
Reply collective(RankFront& front, const Call& call, Collective kind) {
  const Given given(call);
  GroupDesk::Asked asked{kind};
  if constexpr (requires { given.data; }) {
    asked.in = asked.out = given.data.index;
  } else if constexpr (requires { given.in; }) {
    asked.in = given.in.index;
    asked.out = given.out.index;
  }
  if constexpr (requires { given.op; }) asked.op = given.op;
  if constexpr (requires { given.root; }) asked.root = given.root;
  return front.groups().collective(call, asked);
}

}  // namespace

Reply handle::all_reduce(RankFront& front, const Call& call) {
  return collective<unpacked::all_reduce>(front, call, Collective::all_reduce);
}
Reply handle::reduce_scatter(RankFront& front, const Call& call) {
  return collective<unpacked::reduce_scatter>(front, call, Collective::reduce_scatter);
}
Reply handle::all_gather(RankFront& front, const Call& call) {
  return collective<unpacked::all_gather>(front, call, Collective::all_gather);
}
Reply handle::broadcast(RankFront& front, const Call& call) {
  return collective<unpacked::broadcast>(front, call, Collective::broadcast);
}
Reply handle::reduce(RankFront& front, const Call& call) {
  return collective<unpacked::reduce>(front, call, Collective::reduce);
}
Reply handle::gather(RankFront& front, const Call& call) {
  return collective<unpacked::gather>(front, call, Collective::gather);
}
Reply handle::scatter(RankFront& front, const Call& call) {
  return collective<unpacked::scatter>(front, call, Collective::scatter);
}
Reply handle::all_to_all(RankFront& front, const Call& call) {
  return collective<unpacked::all_to_all>(front, call, Collective::all_to_all);
}
Reply handle::barrier(RankFront& front, const Call& call) {
  return collective<unpacked::barrier>(front, call, Collective::barrier);
}
Reply handle::send(RankFront& front, const Call& call) {
  return front.groups().send(call);
}
Reply handle::recv(RankFront& front, const Call& call) {
  return front.groups().recv(call);
}
Reply handle::send_recv(RankFront& front, const Call& call) {
  return front.groups().send_recv(call);
}
Reply handle::split(RankFront& front, const Call& call) {
  return front.groups().split(call);
}

}  // namespace shardlings::front

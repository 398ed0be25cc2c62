#include "front/group/handlers.h"

#include "api/arguments.h"

namespace shardlings::front {

using detail::Call;
using detail::Reply;
namespace unpacked = detail::unpacked;

namespace {

using detail::FieldKind;

/// What may be left out is needed on the root: what all ranks give together, or are given.
template <FieldKind kind>
CollectiveRequest::Tensor tensor_of(detail::Argument<kind> argument) {
  return {argument.index, argument.name, kind == FieldKind::may_read || kind == FieldKind::may_write};
}

template <class Given>
Reply collective(RankGroups& groups, const Call& call, Collective kind) {
  const Given given(call);
  CollectiveRequest asked;
  asked.kind = kind;
  if constexpr (requires { given.data; }) {
    asked.in = asked.out = tensor_of(given.data);
  } else if constexpr (requires { given.in; }) {
    asked.in = tensor_of(given.in);
    asked.out = tensor_of(given.out);
  }
  if constexpr (requires { given.op; }) asked.op = given.op;
  if constexpr (requires { given.root; }) asked.root = given.root;
  return groups.collective(call, asked);
}

}  // namespace

Reply handle::all_reduce(RankGroups& groups, const Call& call) {
  return collective<unpacked::all_reduce>(groups, call, Collective::all_reduce);
}
Reply handle::reduce_scatter(RankGroups& groups, const Call& call) {
  return collective<unpacked::reduce_scatter>(groups, call, Collective::reduce_scatter);
}
Reply handle::all_gather(RankGroups& groups, const Call& call) {
  return collective<unpacked::all_gather>(groups, call, Collective::all_gather);
}
Reply handle::broadcast(RankGroups& groups, const Call& call) {
  return collective<unpacked::broadcast>(groups, call, Collective::broadcast);
}
Reply handle::reduce(RankGroups& groups, const Call& call) {
  return collective<unpacked::reduce>(groups, call, Collective::reduce);
}
Reply handle::gather(RankGroups& groups, const Call& call) {
  return collective<unpacked::gather>(groups, call, Collective::gather);
}
Reply handle::scatter(RankGroups& groups, const Call& call) {
  return collective<unpacked::scatter>(groups, call, Collective::scatter);
}
Reply handle::all_to_all(RankGroups& groups, const Call& call) {
  return collective<unpacked::all_to_all>(groups, call, Collective::all_to_all);
}
Reply handle::barrier(RankGroups& groups, const Call& call) {
  return collective<unpacked::barrier>(groups, call, Collective::barrier);
}

}  // namespace shardlings::front

#include "shardlings/group.h"

#include "api/access.h"
#include "api/invalid.h"
#include "base/parts.h"

namespace shardlings {

using detail::Access;
using detail::Call;
using detail::Verb;

namespace {

// A call of this group, not yet made. An empty Group has no port: there is nobody to call.
struct GroupCall {
  detail::Port* port;
  Call call;

  GroupCall(detail::Port* to, std::uint32_t group, Verb verb, Location at, bool blocking) : port(to) {
    if (!port) detail::throw_invalid("this Group is empty: it was default-constructed or split with kNobody", at);
    call.verb = verb;
    call.at = at;
    call.group = group;
    call.blocking = blocking;
  }
  GroupCall& tensors(ConstView in, ConstView out = {}) {
    call.num_tensors = 2;
    call.tensor[0] = Access::ref(in);
    call.tensor[1] = Access::ref(out);
    return *this;
  }
  GroupCall& numbers(std::int64_t first, std::int64_t second = 0) {
    call.number[0] = first;
    call.number[1] = second;
    return *this;
  }
  void run() { port->call(call); }
  Work start() { return Access::work(port, port->call(call).id); }
};

std::int64_t number(ReduceOp op) {
  return static_cast<std::int64_t>(op);
}

constexpr bool kBlocking = true;
constexpr bool kAsync = false;

}  // namespace

Range Group::part(Count n, int r) const {
  return size_ == 0 ? Range{} : part_of(n, size_, r);
}

void Group::all_reduce(View data, ReduceOp op, Location at) {
  GroupCall(port_, id_, Verb::all_reduce, at, kBlocking).tensors(data, data).numbers(number(op)).run();
}
Work Group::all_reduce_async(View data, ReduceOp op, Location at) {
  return GroupCall(port_, id_, Verb::all_reduce, at, kAsync).tensors(data, data).numbers(number(op)).start();
}
void Group::reduce_scatter(ConstView in, View out, ReduceOp op, Location at) {
  GroupCall(port_, id_, Verb::reduce_scatter, at, kBlocking).tensors(in, out).numbers(number(op)).run();
}
Work Group::reduce_scatter_async(ConstView in, View out, ReduceOp op, Location at) {
  return GroupCall(port_, id_, Verb::reduce_scatter, at, kAsync).tensors(in, out).numbers(number(op)).start();
}
void Group::all_gather(ConstView in, View out, Location at) {
  GroupCall(port_, id_, Verb::all_gather, at, kBlocking).tensors(in, out).run();
}
Work Group::all_gather_async(ConstView in, View out, Location at) {
  return GroupCall(port_, id_, Verb::all_gather, at, kAsync).tensors(in, out).start();
}
void Group::broadcast(View data, int root, Location at) {
  GroupCall(port_, id_, Verb::broadcast, at, kBlocking).tensors(data, data).numbers(0, root).run();
}
Work Group::broadcast_async(View data, int root, Location at) {
  return GroupCall(port_, id_, Verb::broadcast, at, kAsync).tensors(data, data).numbers(0, root).start();
}
void Group::reduce(View data, ReduceOp op, int root, Location at) {
  GroupCall(port_, id_, Verb::reduce, at, kBlocking).tensors(data, data).numbers(number(op), root).run();
}
Work Group::reduce_async(View data, ReduceOp op, int root, Location at) {
  return GroupCall(port_, id_, Verb::reduce, at, kAsync).tensors(data, data).numbers(number(op), root).start();
}
void Group::gather(ConstView in, View out, int root, Location at) {
  GroupCall(port_, id_, Verb::gather, at, kBlocking).tensors(in, out).numbers(0, root).run();
}
Work Group::gather_async(ConstView in, View out, int root, Location at) {
  return GroupCall(port_, id_, Verb::gather, at, kAsync).tensors(in, out).numbers(0, root).start();
}
void Group::scatter(ConstView in, View out, int root, Location at) {
  GroupCall(port_, id_, Verb::scatter, at, kBlocking).tensors(in, out).numbers(0, root).run();
}
Work Group::scatter_async(ConstView in, View out, int root, Location at) {
  return GroupCall(port_, id_, Verb::scatter, at, kAsync).tensors(in, out).numbers(0, root).start();
}
void Group::all_to_all(ConstView in, View out, Location at) {
  GroupCall(port_, id_, Verb::all_to_all, at, kBlocking).tensors(in, out).run();
}
Work Group::all_to_all_async(ConstView in, View out, Location at) {
  return GroupCall(port_, id_, Verb::all_to_all, at, kAsync).tensors(in, out).start();
}
void Group::send(ConstView data, int to, Location at) {
  GroupCall(port_, id_, Verb::send, at, kBlocking).tensors(data).numbers(to).run();
}
Work Group::send_async(ConstView data, int to, Location at) {
  return GroupCall(port_, id_, Verb::send, at, kAsync).tensors(data).numbers(to).start();
}
void Group::recv(View data, int from, Location at) {
  GroupCall(port_, id_, Verb::recv, at, kBlocking).tensors(data).numbers(from).run();
}
Work Group::recv_async(View data, int from, Location at) {
  return GroupCall(port_, id_, Verb::recv, at, kAsync).tensors(data).numbers(from).start();
}
void Group::send_recv(ConstView out, int to, View in, int from, Location at) {
  GroupCall(port_, id_, Verb::send_recv, at, kBlocking).tensors(out, in).numbers(to, from).run();
}
void Group::barrier(Location at) {
  GroupCall(port_, id_, Verb::barrier, at, kBlocking).run();
}

Group Group::split(int color, int key, const char* name, Location at) {
  GroupCall request(port_, id_, Verb::split, at, kBlocking);
  request.numbers(color, key);
  request.call.text = name;
  const detail::Reply reply = port_->call(request.call);
  return reply.group_size == 0 ? Group() : Access::group(port_, reply.group, reply.group_rank, reply.group_size);
}

}  // namespace shardlings

#include "shardlings/group.h"

#include <fmt/format.h>

#include "api/request.h"
#include "base/dtype.h"
#include "base/parts.h"

namespace shardlings {

using detail::Access;
using detail::Port;
using detail::Request;
namespace args = detail::args;

namespace {

/// An empty Group has no port: there is nobody to call.
Port* checked(Port* port, Location at) {
  if (!port) detail::throw_invalid("this Group is empty: it was default-constructed or split with kNobody", at);
  return port;
}

/// Where each rank's rows begin among those of all of them, and behind the last one the end. Throws if `rows` are not
/// as many as `view` has, in `members` parts.
std::vector<Count> beginnings(const char* name, ConstView view, const char* of, const std::vector<Count>& rows,
                              int members, Location at) {
  const auto refuse = [&](const std::string& what) { detail::throw_invalid("all_to_all_rows: " + what, at); };
  if (!view) refuse(fmt::format("`{}` is empty (moved from, or never allocated)", name));
  if (std::ssize(rows) != members) {
    refuse(fmt::format("`{}` has {} numbers; the group has {} ranks", of, rows.size(), members));
  }
  std::vector<Count> begins{0};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    // The difference cannot overflow: what has been added up is no more than the view's rows.
    if (rows[r] < 0 || rows[r] > view.rows() - begins.back()) {
      refuse(fmt::format("`{}` says {} rows for rank {}; `{}` has {} rows, of which {} are left", of, rows[r], r, name,
                         view.rows(), view.rows() - begins.back()));
    }
    begins.push_back(begins.back() + rows[r]);
  }
  if (begins.back() != view.rows()) {
    refuse(fmt::format("`{}` has {} rows, but the numbers of `{}` add up to {}", name, view.rows(), of, begins.back()));
  }
  return begins;
}

}  // namespace

Range Group::part(Count n, int r, Location at) const {
  if (size_ == 0) return {};
  if (n < 0) detail::throw_invalid(fmt::format("part({}, {}): there is no such number of elements", n, r), at);
  if (r < 0 || r >= size_) {
    detail::throw_invalid(fmt::format("part({}, {}): the group has ranks 0 to {}", n, r, size_ - 1), at);
  }
  return part_of(n, size_, r);
}

void Group::all_reduce(View data, ReduceOp op, Location at) {
  Request(checked(port_, at), args::all_reduce{.group = id_, .data = data, .op = op}, at).send();
}
Work Group::all_reduce_async(View data, ReduceOp op, Location at) {
  return Request(checked(port_, at), args::all_reduce{.group = id_, .data = data, .op = op}, at).start();
}
void Group::reduce_scatter(ConstView in, View out, ReduceOp op, Location at) {
  Request(checked(port_, at), args::reduce_scatter{.group = id_, .in = in, .out = out, .op = op}, at).send();
}
Work Group::reduce_scatter_async(ConstView in, View out, ReduceOp op, Location at) {
  return Request(checked(port_, at), args::reduce_scatter{.group = id_, .in = in, .out = out, .op = op}, at).start();
}
void Group::all_gather(ConstView in, View out, Location at) {
  Request(checked(port_, at), args::all_gather{.group = id_, .in = in, .out = out}, at).send();
}
Work Group::all_gather_async(ConstView in, View out, Location at) {
  return Request(checked(port_, at), args::all_gather{.group = id_, .in = in, .out = out}, at).start();
}
void Group::broadcast(View data, int root, Location at) {
  Request(checked(port_, at), args::broadcast{.group = id_, .data = data, .root = root}, at).send();
}
Work Group::broadcast_async(View data, int root, Location at) {
  return Request(checked(port_, at), args::broadcast{.group = id_, .data = data, .root = root}, at).start();
}
void Group::reduce(View data, ReduceOp op, int root, Location at) {
  Request(checked(port_, at), args::reduce{.group = id_, .data = data, .op = op, .root = root}, at).send();
}
Work Group::reduce_async(View data, ReduceOp op, int root, Location at) {
  return Request(checked(port_, at), args::reduce{.group = id_, .data = data, .op = op, .root = root}, at).start();
}
void Group::gather(ConstView in, View out, int root, Location at) {
  Request(checked(port_, at), args::gather{.group = id_, .in = in, .out = out, .root = root}, at).send();
}
Work Group::gather_async(ConstView in, View out, int root, Location at) {
  return Request(checked(port_, at), args::gather{.group = id_, .in = in, .out = out, .root = root}, at).start();
}
void Group::scatter(ConstView in, View out, int root, Location at) {
  Request(checked(port_, at), args::scatter{.group = id_, .in = in, .out = out, .root = root}, at).send();
}
Work Group::scatter_async(ConstView in, View out, int root, Location at) {
  return Request(checked(port_, at), args::scatter{.group = id_, .in = in, .out = out, .root = root}, at).start();
}
void Group::all_to_all(ConstView in, View out, Location at) {
  Request(checked(port_, at), args::all_to_all{.group = id_, .in = in, .out = out}, at).send();
}
Work Group::all_to_all_async(ConstView in, View out, Location at) {
  return Request(checked(port_, at), args::all_to_all{.group = id_, .in = in, .out = out}, at).start();
}
// Parts of which only two ranks know the size are messages: a fabric's collective has one size that all members know.
void Group::all_to_all_rows(ConstView in, const std::vector<Count>& sends, View out, const std::vector<Count>& receives,
                            Location at) {
  checked(port_, at);
  const std::vector<Count> from_begins = beginnings("in", in, "sends", sends, size_, at);
  const std::vector<Count> to_begins = beginnings("out", out, "receives", receives, size_, at);
  if (in.dtype() != out.dtype()) {
    detail::throw_invalid(fmt::format("all_to_all_rows: `in` is {} and `out` is {}: the types must be the same",
                                      shardlings::name_of(in.dtype()), shardlings::name_of(out.dtype())),
                          at);
  }
  const auto rows_of = [&](auto view, const std::vector<Count>& begins, int r) {
    const auto i = static_cast<std::size_t>(r);
    return view.rows_part({begins[i], begins[i + 1]}, at);
  };
  const View own = rows_of(out, to_begins, rank_);
  const ConstView mine = rows_of(in, from_begins, rank_);
  if (own.rows() != mine.rows()) {
    detail::throw_invalid(fmt::format("all_to_all_rows: this is rank {} of the group; it sends {} rows to itself and "
                                      "receives {} from itself",
                                      rank_, mine.rows(), own.rows()),
                          at);
  }
  std::vector<Work> under_way;
  for (int step = 1; step < size_; ++step) {  // with another partner each: no link takes two messages at a time
    const int to = (rank_ + step) % size_, from = (rank_ - step + size_) % size_;
    const args::recv receive{
        .group = id_, .data = rows_of(out, to_begins, from), .from = from, .row = out.shape().cols()};
    const args::send sending{.group = id_, .data = rows_of(in, from_begins, to), .to = to, .row = in.shape().cols()};
    under_way.push_back(Request(port_, receive, at).start());
    under_way.push_back(Request(port_, sending, at).start());
  }
  if (own.size() > 0) copy(own, mine, at);
  for (Work& work : under_way) work.wait(at);
}
void Group::send(ConstView data, int to, Location at) {
  Request(checked(port_, at), args::send{.group = id_, .data = data, .to = to, .row = 0}, at).send();
}
Work Group::send_async(ConstView data, int to, Location at) {
  return Request(checked(port_, at), args::send{.group = id_, .data = data, .to = to, .row = 0}, at).start();
}
void Group::recv(View data, int from, Location at) {
  Request(checked(port_, at), args::recv{.group = id_, .data = data, .from = from, .row = 0}, at).send();
}
Work Group::recv_async(View data, int from, Location at) {
  return Request(checked(port_, at), args::recv{.group = id_, .data = data, .from = from, .row = 0}, at).start();
}
int Group::recv_any(View data, Location at) {
  return Request(checked(port_, at), args::recv_any{.group = id_, .data = data}, at).send().group_rank;
}
void Group::send_recv(ConstView out, int to, View in, int from, Location at) {
  Request(checked(port_, at), args::send_recv{.group = id_, .out = out, .in = in, .to = to, .from = from}, at).send();
}
void Group::barrier(Location at) {
  Request(checked(port_, at), args::barrier{.group = id_}, at).send();
}

Group Group::split(int color, int key, const char* name, Location at) {
  Port* port = checked(port_, at);
  const detail::Reply reply =
      Request(port, args::split{.group = id_, .color = color, .key = key, .name = name}, at).send();
  return reply.group_size == 0 ? Group() : Access::group(port_, reply.group, reply.group_rank, reply.group_size);
}

}  // namespace shardlings

// What a communication call must satisfy on its own rank, before anybody else is involved.
#include <fmt/format.h>

#include "api/verbs.h"
#include "base/parts.h"
#include "base/text.h"
#include "front/group/rank_groups.h"

namespace shardlings::front {

using detail::Call;

back::Plan RankGroups::plan_of(const Call& call, const Asked& asked, const Operand& in, const Operand& out) {
  back::Plan plan;
  plan.kind = asked.kind;
  plan.dtype = in ? in.dtype() : out.dtype();
  plan.reduce = asked.op;
  plan.root = asked.root;
  plan.members = static_cast<int>(group(call).members.size());
  switch (asked.kind) {
    case Collective::all_gather: plan.count = out.size(); break;
    // Only the root has the whole; the others' parts are compared with its count when all have called.
    case Collective::gather: plan.count = member_of(call) == plan.root ? out.size() : -in.size(); break;
    case Collective::scatter: plan.count = member_of(call) == plan.root ? in.size() : -out.size(); break;
    default: plan.count = in.size(); break;
  }
  return plan;
}

void RankGroups::check_peer(const Call& call, int peer, int size) {
  if (peer >= 0 && peer < size && peer != member_of(call)) return;
  if (peer == member_of(call)) {
    rank_.invalid(
        call, fmt::format("{}: rank {} of the group is this rank itself; copy() does that", name_of(call.verb), peer));
  }
  rank_.invalid(call, fmt::format("{}: the group has ranks 0 to {}, not {}", name_of(call.verb), size - 1, peer));
}

void RankGroups::check_sizes(const Call& call, const back::Plan& plan, int member, const Operand& in,
                             const Operand& out) {
  const char* name = name_of(call.verb);
  const auto want = [&](const char* what, const Operand& operand, Count size) {
    if (operand.size() != size) {
      rank_.invalid(call, fmt::format("{}: `{}` has {} elements; on rank {} of {} it must have {}", name, what,
                                      operand.size(), member, plan.members, size));
    }
  };
  if (in && out && in.dtype() != out.dtype()) {
    rank_.invalid(call, fmt::format("{}: `in` is {}, `out` is {}", name, name_of(in.dtype()), name_of(out.dtype())));
  }
  if (plan.root < 0 || plan.root >= plan.members) {
    rank_.invalid(call, fmt::format("{}: root {} is not in the group of {} ranks", name, plan.root, plan.members));
  }
  const Range mine = part_of(plan.count < 0 ? 0 : plan.count, plan.members, member);
  bool may_share = false;  // `in` and `out` may be the same memory, or one the right part of the other
  switch (plan.kind) {
    case Collective::reduce_scatter:
      want("out", out, mine.size());
      may_share = out.ref.offset == in.ref.offset + mine.begin;
      break;
    case Collective::all_gather:
      want("in", in, mine.size());
      may_share = in.ref.offset == out.ref.offset + mine.begin;
      break;
    case Collective::all_to_all: want("out", out, plan.members * mine.size()); break;
    case Collective::gather:
      if (member == plan.root) want("in", in, mine.size());
      may_share = member == plan.root && in.ref.offset == out.ref.offset + mine.begin;
      break;
    case Collective::scatter:
      if (member == plan.root) want("out", out, mine.size());
      may_share = member == plan.root && out.ref.offset == in.ref.offset + mine.begin;
      break;
    default: may_share = true; break;  // one view, given as both
  }
  if (may_share || !in || !out || in.ref.storage != out.ref.storage) return;
  const Range a{in.ref.offset, in.ref.offset + in.size()};
  const Range b{out.ref.offset, out.ref.offset + out.size()};
  if (intersect(a, b).size() > 0) {
    rank_.invalid(call, fmt::format("{}: `in` and `out` overlap, but `{}` is not this rank's part of the other", name,
                                    in.size() < out.size() ? "in" : "out"));
  }
}

}  // namespace shardlings::front

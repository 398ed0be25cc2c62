// What a communication call must satisfy on its own rank, before anybody else is involved.
#include <fmt/format.h>

#include "api/verbs.h"
#include "base/parts.h"
#include "base/text.h"
#include "front/group/rank_groups.h"

namespace shardlings::front {

using detail::Call;

back::Signature RankGroups::signature_of(const Call& call, const Asked& asked, const Operand& in, const Operand& out) {
  back::Signature signature;
  signature.kind = asked.kind;
  signature.dtype = in ? in.dtype() : out.dtype();
  signature.reduce = asked.op;
  signature.root = asked.root;
  signature.members = static_cast<int>(group(call).members.size());
  switch (asked.kind) {
    case Collective::all_gather: signature.count = out.size(); break;
    // Only the root has the whole; the others' parts are compared with its count when all have called.
    case Collective::gather: signature.count = member_of(call) == signature.root ? out.size() : -in.size(); break;
    case Collective::scatter: signature.count = member_of(call) == signature.root ? in.size() : -out.size(); break;
    default: signature.count = in.size(); break;
  }
  return signature;
}

void RankGroups::check_peer(const Call& call, int peer, int size) {
  if (peer >= 0 && peer < size && peer != member_of(call)) return;
  if (peer == member_of(call)) {
    rank_.invalid(
        call, fmt::format("{}: rank {} of the group is this rank itself; copy() does that", name_of(call.verb), peer));
  }
  rank_.invalid(call, fmt::format("{}: the group has ranks 0 to {}, not {}", name_of(call.verb), size - 1, peer));
}

void RankGroups::check_sizes(const Call& call, const back::Signature& signature, int member, const Operand& in,
                             const Operand& out) {
  const char* name = name_of(call.verb);
  const auto want = [&](const char* what, const Operand& operand, Count size) {
    if (operand.size() != size) {
      rank_.invalid(call, fmt::format("{}: `{}` has {} elements; on rank {} of {} it must have {}", name, what,
                                      operand.size(), member, signature.members, size));
    }
  };
  if (in && out && in.dtype() != out.dtype()) {
    rank_.invalid(call, fmt::format("{}: `in` is {}, `out` is {}", name, name_of(in.dtype()), name_of(out.dtype())));
  }
  if (signature.root < 0 || signature.root >= signature.members) {
    rank_.invalid(call,
                  fmt::format("{}: root {} is not in the group of {} ranks", name, signature.root, signature.members));
  }
  const Range mine = part_of(signature.count < 0 ? 0 : signature.count, signature.members, member);
  bool may_share = false;  // `in` and `out` may be the same memory, or one the right part of the other
  switch (signature.kind) {
    case Collective::reduce_scatter:
      want("out", out, mine.size());
      may_share = out.ref.offset == in.ref.offset + mine.begin;
      break;
    case Collective::all_gather:
      want("in", in, mine.size());
      may_share = in.ref.offset == out.ref.offset + mine.begin;
      break;
    case Collective::all_to_all: want("out", out, signature.members * mine.size()); break;
    case Collective::gather:
      if (member == signature.root) want("in", in, mine.size());
      may_share = member == signature.root && in.ref.offset == out.ref.offset + mine.begin;
      break;
    case Collective::scatter:
      if (member == signature.root) want("out", out, mine.size());
      may_share = member == signature.root && out.ref.offset == in.ref.offset + mine.begin;
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

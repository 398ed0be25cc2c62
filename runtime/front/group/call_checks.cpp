#include "front/group/call_checks.h"

#include <fmt/format.h>

#include "api/verbs.h"
#include "base/dtype.h"
#include "base/parts.h"

namespace shardlings::front {

using detail::Call;

Count count_of(const back::Signature& signature, int member, const Operand& in, const Operand& out) {
  switch (signature.kind) {
    case Collective::all_gather: return out.size();
    case Collective::gather: return member == signature.root ? out.size() : -in.size();
    case Collective::scatter: return member == signature.root ? in.size() : -out.size();
    default: return in.size();
  }
}

void check_peer(const RankContext& rank, const Call& call, const Membership& me, int peer) {
  const int size = static_cast<int>(me.group->members->size());
  if (peer >= 0 && peer < size && peer != me.member) return;
  if (peer == me.member) {
    rank.invalid(call, fmt::format("{}: rank {} of group {} is this rank itself; copy() does that", name_of(call.verb),
                                   peer, me.group->name));
  }
  rank.invalid(
      call, fmt::format("{}: group {} has ranks 0 to {}, not {}", name_of(call.verb), me.group->name, size - 1, peer));
}

void check_combines(const RankContext& rank, const Call& call, const back::Signature& signature) {
  const bool combines = signature.kind == Collective::all_reduce || signature.kind == Collective::reduce_scatter ||
                        signature.kind == Collective::reduce;
  if (!combines || !is_one_byte(signature.dtype)) return;
  if (signature.dtype == DType::e4m3) {
    rank.invalid(call,
                 fmt::format("{}: the data are codes of 8 bits (e4m3), each of which means a number only together "
                             "with its block's scale: they cannot be combined. Combine numbers, f32 or bf16",
                             name_of(call.verb)));
  }
  if (signature.reduce == ReduceOp::max) return;
  rank.invalid(call, fmt::format("{}: the data are scales of blocks (e8m0), of which there is only the max, not the {}",
                                 name_of(call.verb), name_of(signature.reduce)));
}

void check_sizes(const RankContext& rank, const Call& call, const back::Signature& signature, int member,
                 const Operand& in, const Operand& out) {
  const char* name = name_of(call.verb);
  const auto want = [&](const char* what, const Operand& operand, Count size) {
    if (operand.size() != size) {
      rank.invalid(call, fmt::format("{}: `{}` has {} elements; on rank {} of {} it must have {}", name, what,
                                     operand.size(), member, signature.members, size));
    }
  };
  if (in && out && in.dtype() != out.dtype()) {
    rank.invalid(call, fmt::format("{}: `in` is {}, `out` is {}", name, name_of(in.dtype()), name_of(out.dtype())));
  }
  if (signature.root < 0 || signature.root >= signature.members) {
    rank.invalid(call,
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
    rank.invalid(call, fmt::format("{}: `in` and `out` overlap, but `{}` is not this rank's part of the other", name,
                                   in.size() < out.size() ? "in" : "out"));
  }
}

}  // namespace shardlings::front

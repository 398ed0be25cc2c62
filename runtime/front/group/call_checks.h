/// \file
/// What a call to a group must satisfy on its own rank, before anybody else is involved. All throw InvalidArgument.
#pragma once

#include "api/call.h"
#include "front/group/control.h"
#include "front/memory/operand.h"
#include "front/rank/rank_context.h"

namespace shardlings::front {

/// How many elements a collective of this kind has as a whole, as this member knows it; see back::Signature::count.
/// Where only the root has the whole, the others' is minus their own part, to be compared with the root's when all have
/// called.
Count count_of(const back::Signature& signature, int member, const Operand& in, const Operand& out);

/// What is to be combined are numbers, or the largest of scales: codes of 8 bits are no numbers by themselves.
void check_combines(const RankContext& rank, const detail::Call& call, const back::Signature& signature);

/// Sizes and types of the tensors, the root, and that they overlap at most as the collective allows.
void check_sizes(const RankContext& rank, const detail::Call& call, const back::Signature& signature, int member,
                 const Operand& in, const Operand& out);

/// The other side of a message is another rank of the group.
void check_peer(const RankContext& rank, const detail::Call& call, const Membership& me, int peer);

}  // namespace shardlings::front

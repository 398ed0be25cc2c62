/// \file
/// Bytes on the wire, as they are counted: what a ring algorithm sends, by NCCL's conventions. Budgets of puzzles are
/// formulas of their own, written from the lesson (grading/formulas/sharding.h): the two check each other.
#pragma once

#include "back/fabric/fabric.h"
#include "base/units.h"

namespace shardlings::front {

struct RingTraffic {
  Bytes sent;
  Bytes received;
};

/// What `member` sends and receives in one operation, for the ring algorithm in which rank r passes to r + 1 and ends
/// up owning part r of a reduction.
///
/// - reduce_scatter: everything but the own part is sent on: S - |part(r)|; S(N-1)/N if N divides the count.
/// - all_gather: everything but the next rank's part: S - |part(r+1)|.
/// - all_reduce: both.
/// - broadcast: a chain of ranks that begins at the root; each but the last one sends everything on.
/// - reduce: the same chain in the other direction, to the root; each but the root sends everything on.
/// - gather, scatter: each part travels once, directly. all_to_all: what is not one's own.
RingTraffic ring_traffic_of(const back::Signature& signature, int member);

/// The member that gets everything that `member` sends, by the same algorithms; -1: nobody, or several (all_to_all, the
/// root of scatter).
int receiver_of(const back::Signature& signature, int member);

}  // namespace shardlings::front

/// \file
/// Which calls of NCCL a collective is made of, for each member. All calls of a schedule are issued in one group, so
/// their order across members does not matter.
///
/// NCCL's own all-gather and reduce-scatter want equal parts. Parts of unequal size become one broadcast or reduction
/// for each part, which moves the same bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "back/fabric/fabric.h"

namespace shardlings::back::nccl {

/// One call of NCCL by one member.
struct Call {
  enum class What : std::uint8_t { all_reduce, reduce_scatter, all_gather, broadcast, reduce, send, recv };
  What what = What::all_reduce;
  const void* in = nullptr;
  void* out = nullptr;
  Count count = 0;  ///< as NCCL counts: of reduce_scatter and all_gather one part
  DType dtype = DType::f32;
  ReduceOp op = ReduceOp::sum;  ///< never mean: a mean is a sum and a division afterwards
  int peer = 0;                 ///< the root, or the other side of a message
};

struct Schedule {
  struct Member {
    std::vector<Kernel> before;  ///< copies inside this member's memory
    std::vector<Call> calls;
    std::vector<Kernel> after;  ///< divisions
  };
  std::vector<Member> members;
  /// Whether NCCL has anything to do.
  bool communicates() const;
};

/// Empty for operations that move nothing.
Schedule make_schedule(const Signature& signature, std::span<const Buffers> buffers);

}  // namespace shardlings::back::nccl

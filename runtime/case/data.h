/// \file
/// The data of a case as host arrays, from its seed alone: the harness uploads them, the reference computes with them.
#pragma once

#include <cstdint>
#include <vector>

#include "case/case.h"

namespace shardlings::cases {

/// Weights of layer l, flat. Tied tensors are equal.
SHARDLINGS_API std::vector<float> weights_of(const Case& kase, int layer);

/// What a micro-batch of a batch holds; rank r trains on batch kase.batch_of(r). Positions are sequence-major: row =
/// position * b + sequence.
struct MicroData {
  std::vector<float> inputs;          ///< mlp: (s, b, h)
  std::vector<std::int32_t> ids;      ///< gpt: (s, b)
  std::vector<std::int32_t> targets;  ///< (s, b); -1 counts for nothing
  Count tokens = 0;                   ///< targets that count
};
SHARDLINGS_API MicroData micro_of(const Case& kase, int batch, int micro);

/// Targets that count: micro_of(…).tokens, without the data.
SHARDLINGS_API Count tokens_of_micro(const Case& kase, int batch, int micro);

/// Targets that count, over all batches and micro-batches of a step.
SHARDLINGS_API Count tokens_of_step(const Case& kase);

/// `n` standard normal numbers, the same for all ranks; `which` tells several such tensors apart.
SHARDLINGS_API std::vector<float> normals_of(const Case& kase, int which, Count n);

/// `n` small integers as f32, different for each rank: sums of them are exact in any order.
SHARDLINGS_API std::vector<float> integers_of(const Case& kase, int rank, Count n);

}  // namespace shardlings::cases

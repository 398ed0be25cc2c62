/// \file
/// What puzzle 34 is about: a model, a cluster and a batch, what one block was measured to take, and the layout that is
/// chosen for all of it. Plain data.
#pragma once

#include <vector>

#include "shardlings/scaling.h"
#include "shardlings/tensor.h"

namespace shardlings {

/// How a step is divided. Ranks are numbered along tensor parallelism first, then stages, then replicas.
struct Layout {
  int tp = 1;       ///< t: ranks of tensor parallelism, with sequence parallelism
  int pp = 1;       ///< p: stages of the pipeline
  int chunks = 1;   ///< v: chunks of blocks on each stage; 1F1B with one, interleaved with more
  int dp = 1;       ///< d: replicas; they divide the optimizer's states (ZeRO-1)
  Count batch = 1;  ///< b: sequences of a micro-batch
  Recomputed recomputed = Recomputed::nothing;  ///< what backward computes again
};

/// What was measured of one block with t ranks and micro-batches of b sequences, on each of these ranks.
struct BlockProfile {
  int tp = 1;                                   ///< t
  Count batch = 1;                              ///< b
  Recomputed recomputed = Recomputed::nothing;  ///< what backward computed again
  double seconds = 0;       ///< forward and backward of a micro-batch, with the exchanges of tensor parallelism
  double head_seconds = 0;  ///< the same of embedding, head and loss together
  double kept = 0;          ///< bytes from forward to backward
  double once = 0;          ///< bytes that one block's backward, and the head, need in addition, once on a rank
};

/// A GPT, the GPUs that train it, and its batch.
struct PlannedJob {
  Count layers = 0;           ///< L: blocks
  Count block_weights = 0;    ///< of one block
  Count table_weights = 0;    ///< of the embedding; the head has as many
  Count sequences = 0;        ///< of a step, over all replicas
  int gpus = 0;               ///< N
  int node = 0;               ///< GPUs of a node; each has a port of its own to other nodes
  double memory = 0;          ///< bytes of a GPU that a plan may take: 99 % of what it has
  double node_bandwidth = 0;  ///< bytes a second of a GPU to others in its node
  double port_bandwidth = 0;  ///< bytes a second of a GPU's port to other nodes
  /// Of the optimizer, for each weight of a rank, also those whose states other replicas hold.
  double update_seconds = 0;
  std::vector<BlockProfile> profile;  ///< a row for each t, b and kind of recomputation that was measured
};

}  // namespace shardlings

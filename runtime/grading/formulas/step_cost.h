/// \file
/// What a training step that is divided over ranks costs each of them, in closed form: the peak of memory and the bytes
/// on the wire, for data parallel, the stages of ZeRO, and hybrid sharding. Budgets, lessons and
/// docs/reference/sharding.md use it.
#pragma once

#include <cstdint>
#include <vector>

#include "case/case.h"
#include "grading/judge/formula.h"

namespace shardlings::grading::formulas {

/// What is alive on a rank at the worst moment of a step, in bytes: while backward of layer `layer` runs.
struct StepPeak {
  std::size_t layer = 0;
  std::int64_t weights = 0;           ///< there all the time: whole, or this rank's parts
  std::int64_t gradients = 0;         ///< likewise
  std::int64_t optimizer = 0;         ///< likewise
  std::int64_t batch = 0;             ///< inputs, targets, and the loss
  std::int64_t kept = 0;              ///< activations of layers 0 to `layer`
  std::int64_t own = 0;               ///< what backward of `layer` needs besides
  std::int64_t gathered_weights = 0;  ///< ZeRO-3: those of `layer` and of the layer below, which is on its way
  std::int64_t unreduced = 0;         ///< ZeRO-2 and 3: gradients of `layer`, and of the one above on its way
  std::int64_t total() const;
  /// All of them, without those that are nothing. `ranks` is the letter for the number of ranks that divide something
  /// among themselves: "weights/N" are a rank's parts.
  judge::Formula<Bytes> formula(const char* ranks = "N") const;

  int zero = 0;           ///< the stage of ZeRO
  int micro_batches = 1;  ///< of a rank
};

/// `zero` is the stage: 0 data parallel (puzzles 09 and 10), 1 (11), 2 (12), 3 (13). The units of sharding and the
/// buckets are layers. With several micro-batches, ZeRO-2's bucket of layer 0 is on its way while backward of the last
/// layer begins the next one. Exact for the puzzles' solutions.
StepPeak step_peak(const cases::Case& kase, int rank, int zero);

/// Bytes that a rank sends in a step, without the norm: with S bytes of weights and N ranks, (N-1)/N times 2 S (data
/// parallel and ZeRO-1: whatever m is), (m + 1) S (ZeRO-2), 3 S less the last layer's (ZeRO-3, m = 1).
/// Of uneven parts the exact ones. `ranks` is the letter for N.
judge::Formula<Bytes> step_bytes(const cases::Case& kase, int rank, int zero, const char* ranks = "N");

/// \name Hybrid sharding
/// R nodes of n_node ranks are replicas of one another; inside a node everything is divided as in ZeRO-3 (puzzle 14).
/// @{
/// The training as one node sees it: n_node ranks, inside one node. Rank r of the world is rank r mod n_node there.
cases::Case node_of(const cases::Case& kase);
/// As ranks with the same part see one another: R ranks, each on a node of its own. Rank r of the world is rank
/// r / n_node there.
cases::Case replicas_of(const cases::Case& kase);
/// Like a node alone: that of ZeRO-3 on n_node ranks.
StepPeak hybrid_peak(const cases::Case& kase, int rank);
/// Bytes that a rank sends in a step, by the class of links. Inside its node (n_node-1)/n_node (3 S less the last
/// layer's), between nodes 2 (R-1)/R of its part of S: each exact for uneven parts.
struct HybridBytes {
  judge::Formula<Bytes> inside;
  judge::Formula<Bytes> between;
};
HybridBytes hybrid_bytes(const cases::Case& kase, int rank);
/// @}

}  // namespace shardlings::grading::formulas

/// \file
/// The map of memory: how many bytes of what are on each rank of a training run. The list of activations is that of
/// model/activations.h and the rule of shares that of base/parts.h, from which the budgets of puzzles are made
/// too.
#pragma once

#include <vector>

#include "base/units.h"
#include "memory_map/settings.h"
#include "memory_map/transformer.h"

namespace shardlings::memory_map {

/// Parameters, gradients and optimizer states of `parameters` parameters on the rank with the largest share.
///
/// DP (w + g + K) Ψ; ZeRO-1 (w + g) Ψ + K Ψ/N; ZeRO-2 w Ψ + (g + K) Ψ/N; ZeRO-3 (w + g + K) Ψ/N, with N the number of
/// shards (Rajbhandari et al. 2020, section 5 and table 1; w = g = 2 and K = 12 there).
struct StateBytes {
  Bytes weights, gradients, optimizer;
  Bytes total() const { return weights + gradients + optimizer; }
};
StateBytes states_of(Count parameters, const Training& training, int zero, int shards);

/// What forward keeps for backward on one rank, and what is recomputed.
struct ActivationBytes {
  Bytes blocks;      ///< kept by blocks, of all micro-batches in flight
  Bytes ends;        ///< kept by the embedding and by the head, logits included
  Bytes recomputed;  ///< of the one block whose kept tensors are there again during its backward
  Bytes total() const { return blocks + ends + recomputed; }
};

/// One pipeline stage. All ranks of it have the same, but for an element where a share is not whole.
struct StageMemory {
  int stage = 0;
  Range blocks;          ///< numbers of the blocks; of an interleaved schedule: how many
  Count parameters = 0;  ///< on one rank before sharding: of this stage, divided by tp
  double in_flight =
      1;  ///< micro-batches whose activations are kept at once; parts of one with an interleaved schedule
  StateBytes states;
  Bytes gathered;   ///< ZeRO-3: the two largest neighbouring units of whole weights, one in use and one ahead
  Bytes unreduced;  ///< ZeRO-2 and 3: two units of whole gradients, one being made and one on its way
  ActivationBytes activations;
  Bytes total() const { return states.total() + gathered + unreduced + activations.total(); }
};

struct MemoryMap {
  Count parameters = 0;  ///< of the whole model
  std::vector<StageMemory> stages;
  const StageMemory& fullest() const;
  const StageMemory& emptiest() const;
};

/// Units of ZeRO are layers: a block, the embedding, the head. Of a pipeline, stage r keeps min(p - r, m) micro-batches
/// (1F1B, Narayanan et al. 2021); interleaved it keeps min(2(p - r - 1) + (v - 1)p + 1, m v) chunks, on the first stage
/// 1 + (p - 1)/(p v) times the layers of the model (Korthikanti et al. 2022, section 4.2.3).
///
/// Throws std::invalid_argument where the model cannot be divided in that way.
MemoryMap map_memory(const Transformer& model, const Parallel& parallel, const Training& training);

/// Bytes that one block keeps of one micro-batch, for any division by tp and sp and any recomputation.
/// Equations 1 (tp = 1), 2 (tp) and 4 (tp with sp) of Korthikanti et al. 2022.
Bytes kept_by_one_block(const Transformer& model, const Parallel& parallel, const Training& training);

}  // namespace shardlings::memory_map

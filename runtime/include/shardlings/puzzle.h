/// \file
/// The one header that a puzzle includes.
#pragma once

#include <vector>

#include "shardlings/error.h"
#include "shardlings/grid.h"
#include "shardlings/group.h"
#include "shardlings/host.h"
#include "shardlings/model.h"
#include "shardlings/ops.h"
#include "shardlings/rank.h"
#include "shardlings/shard.h"
#include "shardlings/stage.h"
#include "shardlings/tensor.h"

namespace shardlings {

/// A part of the batch that goes through the model at once.
struct MicroBatch {
  ConstView inputs;   ///< (s, b, h), or ids (s, b); empty on a rank that has no use for them, likewise the targets
  ConstView targets;  ///< (s, b) i32; negative: counts for nothing
  Count tokens = 0;   ///< targets that count
};

/// What this rank trains on in one step.
class SHARDLINGS_API Batch {
 public:
  /// Everything at once; with several micro-batches, one after another.
  ConstView inputs;
  ConstView targets;

  int num_micro() const { return static_cast<int>(micros_.size()); }
  const MicroBatch& micro(int i) const { return micros_[static_cast<std::size_t>(i)]; }
  /// Targets that count in the whole step: of all micro-batches and all ranks. The denominator of the loss.
  Count tokens_of_step() const { return tokens_of_step_; }

 private:
  friend struct detail::Access;
  std::vector<MicroBatch> micros_;
  Count tokens_of_step_ = 0;
};

/// The weights of a model on this rank and what belongs to them, a tensor for each layer.
struct TrainState {
  std::vector<Tensor> weights;
  std::vector<Tensor> grads;  ///< empty tensors where the puzzle makes its own
  std::vector<OptimizerState> optimizer;
};

/// Marks the hole of a puzzle.
[[noreturn]] SHARDLINGS_API void not_implemented(Location at = Location::current());

}  // namespace shardlings

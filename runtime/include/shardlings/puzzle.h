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
#include "shardlings/show.h"
#include "shardlings/stage.h"
#include "shardlings/store.h"
#include "shardlings/tensor.h"

namespace shardlings {

/// A part of the batch that goes through the model at once.
struct MicroBatch {
  ConstView inputs;   ///< (s, b, h), or ids (s, b); empty on a rank that has no use for them, likewise the targets
  ConstView targets;  ///< (s, b) i32; negative: counts for nothing
  Count tokens = 0;   ///< targets that count; 0 where all are padding
};

/// What this rank trains on in one step.
class SHARDLINGS_API Batch {
 public:
  ConstView inputs;   ///< (m s, b, h) or (m s, b), with m micro-batches: of all of them, one after another
  ConstView targets;  ///< likewise

  /// How many micro-batches there are, at least 1.
  int num_micro() const { return static_cast<int>(micros_.size()); }
  /// Micro-batch i, 0 to num_micro()-1; any other i is undefined.
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
  std::vector<Tensor> weights;            ///< flat, as Model::range and entries describe them
  std::vector<Tensor> grads;              ///< as long as weights; empty tensors where the puzzle makes its own
  std::vector<OptimizerState> optimizer;  ///< what the optimizer keeps
  std::vector<Tensor> master;             ///< in f32, the optimizer's own weights where `weights` are bf16; else empty
};

/// What training in mixed precision goes by, and what it keeps from step to step.
struct MixedPrecision {
  AdamStep adam_step;    ///< its `step` is the update's number, from 1
  float limit = 0;       ///< of the gradient's norm, over all layers
  int growth = 0;        ///< so many steps in a row without an overflow double the scale
  float loss_scale = 1;  ///< what the loss is multiplied by
  int clean = 0;         ///< steps without an overflow since that was changed last
};

/// Weights in 8 bits: this rank's parts of the codes, and the scales of all blocks.
struct ScaledWeights {
  std::vector<View> codes;   ///< of layer l: (this rank's part of size(l)), e4m3
  std::vector<View> scales;  ///< of layer l: (scaling_blocks(size(l))), e8m0, those of the whole layer
  View all_scales;           ///< the scales of all layers, one behind another: scales[l] are parts of it
};

/// This rank's positions of sequences that are divided over ranks, and their attention: n positions, b sequences.
struct AttentionShare {
  Count sequence = 0;  ///< positions of all ranks together
  ConstView q;         ///< (n, b, h): queries
  ConstView kv;        ///< (2 n, b, u): keys, below them the values; u is less than h where heads share keys
  View y;              ///< (n, b, h): what attention makes of them
  View lse;            ///< (n, b, heads), f32: log of the sum of exp(scores), of each query and head
};

/// What a rank has of a layer of E experts: T tokens of its own, h wide, and E/e experts. The router has sent each
/// token to some experts: a row is one token on its way to one of them, and n rows go out from this rank.
struct ExpertShare {
  Group ep;                   ///< e ranks that have all experts together; rank r of it those from r E/e on
  Group replicas;             ///< the ranks with the same experts as this one, itself among them
  ConstView x;                ///< (T, h): tokens
  ConstView token;            ///< (n) i32: the token of each row; rows are ordered by expert, then by token
  ConstView factor;           ///< (n): what the router multiplies the expert's result with
  std::vector<Count> counts;  ///< E numbers: rows of this rank for each expert; n in all
  std::vector<View> weights;  ///< E/e times (h, h): expert i of this rank is relu(row weights[i]T)
  std::vector<View> grads;    ///< of the weights, E/e times (h, h); zeros at first
  View y;                     ///< (T, h): what the experts make of the tokens; zeros at first
  ConstView grad_y;           ///< (T, h): gradient of y
  View grad_x;                ///< (T, h): gradient of x; zeros at first
};

/// What a rank in a grid has of a model, and the groups that it shares it with.
struct GridShare {
  const std::vector<Stage>& chunks;  ///< of its pipeline's stages, in their order
  TrainState& state;                 ///< of the layers of all chunks
  Group down;                        ///< the pipeline, for activations
  Group up;                          ///< the same ranks, for gradients
  Group dp;                          ///< the ranks that hold the same weights
  Group ends;                        ///< first and last rank of the pipeline; empty on those in between
};

/// How workers that train for themselves are brought together (puzzle 31). Rank k is worker k.
struct OuterPlan {
  int steps = 0;                           ///< T: inner steps of the run
  int every = 1;                           ///< H: of a fragment's round; a multiple of the fragments' number P
  int overlap = 0;                         ///< tau: steps between a difference's start and its use; below H/P
  float mix = 0;                           ///< alpha: what a worker keeps of its own weights
  float lr = 0.7F;                         ///< of the outer step
  float momentum = 0.9F;                   ///< mu of the outer step
  std::vector<Range> fragments;            ///< layers of each of the P fragments, in the order of their rounds
  std::vector<std::vector<Count>> tokens;  ///< [j][k]: what worker k's difference of round j weighs; 0: it was lost
};

/// What all ranks of a run are told alike about its data and its random numbers.
struct DataRun {
  std::uint64_t seed = 0;  ///< of the run
  Count sequences = 0;     ///< of the data set, numbered from 0
  Count batch = 0;         ///< sequences of a step, of all replicas together
  int layers = 0;          ///< of the whole model
};

/// An activation before its dropout. On one device it is (s, B, w), with B sequences in the step.
struct DroppedLayer {
  int layer = 0;       ///< number among this rank's layers, from 0
  bool inner = false;  ///< whether it is divided over tensor parallelism, by w; otherwise its ranks all have the same
  Count sequence = 0;  ///< s
  Count width = 0;     ///< w of the whole
};

/// The numbers 0 to n-1 in an order that depends on n and the seed alone, and looks random (Durstenfeld 1964). Costs
/// nothing. throws: InvalidArgument for a negative n, and for 2^32 or more.
SHARDLINGS_API std::vector<Count> shuffled(Count n, std::uint64_t seed, Location at = Location::current());

/// Marks the hole of a puzzle. throws: NotImplemented, always.
[[noreturn]] SHARDLINGS_API void not_implemented(Location at = Location::current());

}  // namespace shardlings

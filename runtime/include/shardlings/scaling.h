/// \file
/// What puzzle 42 is about: measured runs of a training job, what they are worth, and what they cost. Plain data.
#pragma once

#include <cstdint>

#include "shardlings/tensor.h"

namespace shardlings {

/// What backward computes again of forward, because it was not kept.
enum class Recomputed : std::uint8_t {
  nothing,
  attention,  ///< of each block the products of queries with keys, and of scores with values
  blocks      ///< all blocks, but not the head
};

/// A row of a table: so many GPUs have taken so long for a step.
struct MeasuredRun {
  int gpus = 0;         ///< all of them
  Count sequences = 0;  ///< of a step, over all replicas
  double seconds = 0;   ///< of a step
};

/// A GPT that is to be trained, on GPUs that can be rented.
struct TrainingJob {
  Count layers = 0;                             ///< L: blocks
  Count hidden = 0;                             ///< h; the middle of a block is 4 h wide
  Count vocabulary = 0;                         ///< V
  Count sequence = 0;                           ///< s: tokens of a sequence
  Recomputed recomputed = Recomputed::nothing;  ///< what backward computes again
  double peak = 0;                              ///< operations (flops) a second of one GPU, as its maker says
  double least_steps = 0;                       ///< S_min: steps to the wanted loss with a batch without end
  double price = 0;                             ///< dollars an hour of one GPU
  double days = 0;                              ///< until then training has to be done
};

/// Squares of the norm of a gradient that is a mean over a batch, themselves means over many steps, for two sizes of
/// that batch in sequences. With data parallelism both are there: before the all-reduce, and after it.
struct GradientNorms {
  Count small_batch = 0;    ///< sequences of the smaller batch
  Count large_batch = 0;    ///< sequences of the larger one
  double small_square = 0;  ///< mean square of the norm with the smaller batch
  double large_square = 0;  ///< the same with the larger one
};

/// How a run scales: what it is beside another one.
struct Scaling {
  double speed_up = 0;    ///< so many times as many tokens a second
  double efficiency = 0;  ///< the same over so many times as many GPUs: 1 is ideal
};

/// Parts of the peak of all GPUs: 0.5 is half of it.
struct Utilization {
  double model = 0;     ///< MFU
  double hardware = 0;  ///< HFU
};

/// What training takes with the GPUs and the batch of a run.
struct TrainingCost {
  double steps = 0;      ///< until the wanted loss is there
  double days = 0;       ///< that they take
  double gpu_hours = 0;  ///< of all GPUs together
  double dollars = 0;    ///< what these cost
};

}  // namespace shardlings

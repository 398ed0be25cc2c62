/// \file
/// Pipelines as graders see them: which stage has which layers, in which order a rank goes forward and backward, and
/// what that costs in time, messages and memory.
///
/// p ranks with v chunks of layers each are p v stages; chunk c of rank r is stage c p + r. m micro-batches go through
/// all of them. The orders and formulas are those of Huang et al. 2019 (GPipe) and Narayanan et al. 2021
/// (arXiv 2104.04473, section 2.2: 1F1B, with and without interleaving).
#pragma once

#include <cstdint>
#include <vector>

#include "grading/formulas/training.h"

namespace shardlings::grading::formulas {

struct Pipeline {
  int p = 1;
  int m = 1;
  int v = 1;
  std::vector<LayerBytes> layers;  ///< of the whole model, or of a rank's part where layers are divided
  std::int64_t loss = 0;           ///< bytes that loss needs beside the logits

  int stage(int rank, int chunk) const { return chunk * p + rank; }
  bool is_first(int rank, int chunk) const { return stage(rank, chunk) == 0; }
  bool is_last(int rank, int chunk) const { return stage(rank, chunk) == p * v - 1; }
  /// As Harness::layers_of_stage deals them.
  Range layers_of(int rank, int chunk) const;
  Count num_layers_of(int rank) const;
  /// The most layers that any stage has.
  Count longest_stage() const;
};

/// The pipeline over all ranks of a case; v is its number "chunks", or 1.
Pipeline pipeline_of(const cases::Case& kase);

/// One chunk of a rank goes forward or backward for one micro-batch.
struct Slot {
  bool forward = true;
  int micro = 0;
  int chunk = 0;
  bool operator==(const Slot&) const = default;
};
using Order = std::vector<Slot>;

/// What a rank does if it goes forward `warm_up` times, then forward and backward in turn, then backward; both in the
/// order of interleaving (by micro-batches if v = 1). More than m v is m v: all forward, then all backward.
Order order_of(const Pipeline& pipeline, int warm_up);
/// \name Warm-ups
/// @{
int gpipe_warm_up(const Pipeline& pipeline);                  ///< m v
int one_f_one_b_warm_up(const Pipeline& pipeline, int rank);  ///< p - r - 1; interleaved 2 (p - r - 1) + (v - 1) p
int eager_warm_up(const Pipeline& pipeline, int rank);        ///< 2 (p - r - 1)
/// @}

/// Slots before the first one backward.
int leading_forwards(const Order& order);
/// The most slots that have gone forward and not yet backward.
int most_in_flight(const Order& order);
/// The same of 1F1B: min(p - r, m) micro-batches; interleaved min(2 (p - r - 1) + (v - 1) p + 1, m v) chunks.
judge::Formula<Count> one_f_one_b_in_flight(const Pipeline& pipeline, int rank);
/// Everything that went forward has gone backward again before the rank goes on.
bool runs_empty(const Order& order);

/// End of a step in virtual time, on a cluster with a table of calls and links of latency alpha and no other cost:
/// (m v + p - 1)(F + B) + 2 (p v - 1) alpha with F and B of a chunk. It holds for all orders above if alpha = 0; else
/// if receives are posted ahead and the warm-up is long enough: eager for 2 alpha <= F + B, GPipe for alpha <= F and B.
/// Where p v does not divide the layers (GPipe only) it is all stages once and m - 1 times the longest.
judge::Formula<Nanos> step_time(const cases::Case& kase, const Pipeline& pipeline);

/// Virtual times of a stage, or of one chunk of a rank.
struct StageTime {
  Nanos forward, backward;
};

/// When the last rank ends if each follows its order and starts every slot as soon as its message is there, on links
/// that take any number of messages at once: each arrives `latency` after it was sent. `times` and `orders` are by
/// stage and by rank. Nanos(0) if the orders wait for one another for ever.
Nanos end_along(const Pipeline& pipeline, const std::vector<Order>& orders, const std::vector<StageTime>& times,
                Nanos latency = Nanos(0));

/// Bytes that a rank sends: each of its stages an output and a gradient for each micro-batch, where there is somebody
/// to take it.
judge::Formula<Bytes> message_bytes(const Pipeline& pipeline, int rank);

/// What a rank holds for messages, beside what is in flight.
struct Mail {
  bool sends_in_flight = false;   ///< in each direction a message stays until the next one is sent
  bool receives_ahead = false;    ///< in each direction there is room for the next message, if one comes
  bool rounds_in_flight = false;  ///< from the last rank to the first, and back: until the micro-batch's next slot here
};

/// A rank's memory along an order: weights, gradients, its part of the batch, what is in flight (inputs and Saved of
/// its layers; logits on the last stage until they go backward), the layer at work, and messages.
struct PipelineMemory {
  judge::Formula<Bytes> peak = Bytes(0);
  std::vector<std::int64_t> during;  ///< by slot: the most while it computes
  std::vector<std::int64_t> after;   ///< by slot: after its last call of the model
};
PipelineMemory memory_along(const cases::Case& kase, int rank, const Order& order, Mail mail);
/// The same of stage `rank` of another pipeline than that over all ranks.
PipelineMemory memory_along(const cases::Case& kase, const Pipeline& pipeline, int rank, const Order& order, Mail mail);

}  // namespace shardlings::grading::formulas

/// \file
/// What graders of sharded training have in common: bytes and times of parts, shares of the loss, and gradients as
/// known mistakes would leave them in the parts.
#pragma once

#include <cstdint>
#include <vector>

#include "grading/formulas/training.h"

namespace shardlings::grading::formulas {

/// \name Parts
/// Of n elements rank r has part_of(n, N, r); all sizes in bytes, layer by layer.
/// @{
/// Bytes of a rank's part of every layer's weights.
std::vector<std::int64_t> part_bytes(const cases::Case& kase, int rank);
std::int64_t sum_of(const std::vector<std::int64_t>& numbers);
/// Bytes that a rank sends in a ring reduce-scatter of each layer: everything but its own part
/// (front/group/ring_traffic.h).
std::vector<std::int64_t> reduce_scatter_bytes(const cases::Case& kase, int rank);
/// The same of an all-gather: everything but the next rank's part.
std::vector<std::int64_t> all_gather_bytes(const cases::Case& kase, int rank);
/// And of an all-reduce of `count` elements, or of a single one: both.
std::int64_t all_reduce_bytes(const cases::Case& kase, Count count, int rank);
std::int64_t all_reduce_bytes_of_one(const cases::Case& kase, int rank);
/// @}

/// \name Virtual times
/// @{
/// (N-1) (alpha + longest part / W): with W as front/clock/cost.h has it, of a reduce-scatter or an all-gather of each
/// layer.
std::vector<std::int64_t> ring_times(const cases::Case& kase);
/// 2 (N-1) (alpha + longest part / W): of an all-reduce of `count` elements, or of a single one.
std::int64_t all_reduce_time(const cases::Case& kase, Count count);
std::int64_t all_reduce_time_of_one(const cases::Case& kase);
/// @}

/// \name Training
/// @{
/// What each rank's tokens add to the loss of the first step.
std::vector<double> loss_shares(const cases::Case& kase);
/// Gradients as the parts hold them if rank r has kept part r of gradients[r].
reference::Layers from_parts(const cases::Case& kase, const std::vector<reference::Layers>& gradients);
/// Gradient of micro-batch `micro` of all ranks together, at the case's first weights, each micro-batch of a rank with
/// a denominator of its own if `own_tokens`.
reference::Layers gradient_of_micro(const cases::Case& kase, int micro, bool own_tokens = false);
/// @}

/// \name Traces
/// @{
/// Events of a rank for one kind of collective, in the order of the calls (and not of their waits).
std::vector<front::Event> collectives(const judge::CheckContext& check, int rank, front::Collective kind);
/// Any of `transfers` runs while any of `computing` does.
bool overlaps(const std::vector<front::Event>& transfers, const std::vector<front::Event>& computing);
/// Names of the collectives that a rank has called, for messages; making groups is none.
std::string names_of_collectives(const judge::CheckContext& check, int rank);
/// @}

}  // namespace shardlings::grading::formulas

/// \file
/// Pipelines whose stages are divided over data-parallel ranks, breadth first (Lamy-Poirier 2022, arXiv 2211.05953):
/// all m micro-batches go through a chunk before the next one, whose weights are gathered once for that. Orders and
/// costs.
///
/// The grid is "pipeline" x "data": of p D ranks, rank r is number r / D of its pipeline and has part r mod D of its
/// layers. The case's number "stages" is p, "chunks" is v; it has D batches.
#pragma once

#include <cstddef>

#include "grading/formulas/pipeline.h"

namespace shardlings::grading::formulas {

/// \name Axes
/// The case as the ranks along one axis see it: p ranks, or D. For orders, bytes and times.
/// @{
cases::Case pipeline_axis(const cases::Case& kase);
cases::Case data_axis(const cases::Case& kase);
/// @}

/// All micro-batches forward through chunks 0 to v - 1; then backward through v - 1 to 0.
Order breadth_first(const Pipeline& pipeline);

/// End of a step in virtual time, with links between stages that cost nothing and stages of equal length:
/// G + ((v - 1) max(m, p) + m + p - 1)(F + B) + S, where F and B are those of a chunk, G the all-gathers of rank 0's
/// chunk 0 and S its reduce-scatters. All others are hidden if a chunk is gathered within m F, and gathered and
/// scattered within m B.
judge::Formula<Nanos> breadth_first_time(const cases::Case& kase);

/// Bytes that a rank sends along "data": everything but one part in D of each layer of its chunks, twice for gathering
/// (but of the last chunk once), once for scattering.
judge::Formula<Bytes> gathered_bytes(const cases::Case& kase, int rank);

/// A rank's memory: parts of weights and gradients, the chunk at work and the one that is needed next whole (after the
/// last one the chunk below), in backward their gradients and those of the chunk before; and what memory_along() says
/// of batch, activations and messages, of which those that go round wait for the next chunk.
PipelineMemory breadth_first_memory(const cases::Case& kase, int rank);
/// What is there after the last call of a slot of the rank's order.
judge::Formula<Bytes> breadth_first_memory_after(const cases::Case& kase, int rank, std::size_t slot);

}  // namespace shardlings::grading::formulas

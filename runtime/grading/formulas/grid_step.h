/// \file
/// A training step on t x p x d ranks with v chunks of layers on each, ZeRO-1 over the d replicas, and tied embeddings
/// (puzzle 33): what a rank holds, in which order it computes, and what it sends.
///
/// A case has the numbers t, p, d and v. Its time is that of the pipeline: step_time().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grading/formulas/pipeline.h"
#include "grading/reference/reference.h"
#include "model/structure.h"

namespace shardlings::grading::formulas {

/// Where a rank is in the grid, as Harness::grid_groups deals ranks, and what it has of the model: a t-th of each layer
/// of its chunks and, for the optimizer, a d-th of that.
struct GridRank {
  GridRank(const cases::Case& kase, int rank);

  int t, p, d, v;
  int tp, pp, dp;                   ///< coordinates
  model::ModelStructure structure;  ///< its part of every layer of the model
  Pipeline pipeline;                ///< with the bytes of these parts
  std::vector<Count> layers;        ///< of its chunks, in ascending order

  bool is_first() const { return pp == 0; }
  bool is_last() const { return pp == p - 1; }
  const model::LayerStructure& layer(Count l) const { return structure.layers[static_cast<std::size_t>(l)]; }
  /// Weights of its part of a layer.
  Count size(Count l) const { return layer(l).range.size(); }
  /// Those of them for which the optimizer works here.
  Range mine(Count l) const;
  /// Of the embedding's table.
  Count table_size() const;
};

/// Which of a rank's chunks has a layer, whatever the rank: 0 to v - 1.
int chunk_of_layer(const Pipeline& pipeline, Count layer);

/// 1F1B, interleaved if v > 1.
Order order_of(const GridRank& own);

/// Both moments of Adam.
std::int64_t moment_bytes(const GridRank& own);
/// With them; in each direction one message may be on its way while something else is computed.
judge::Formula<Bytes> peak_of(const cases::Case& kase, const GridRank& own);

/// Each of the rank's layers goes forward once for each micro-batch.
judge::Formula<Count> forward_calls(const cases::Case& kase, const GridRank& own);
/// Some rank goes backward for the first time before it has gone forward as often as it should have.
bool goes_back_too_soon(const judge::CheckContext& check);

/// What a rank alone has of some layers of the model: its part over the replicas of all that tensor parallelism
/// divides. `all` has whole layers, as `whole` describes them.
std::vector<double> alone_on(const GridRank& own, const model::ModelStructure& whole, const reference::Layers& all,
                             const std::vector<bool>& layers);

/// What a rank sends in one step in some groups together.
struct GroupBytes {
  std::vector<std::string> groups;
  judge::Formula<Bytes> budget;
};
/// In each group of the grid; elsewhere nothing.
std::vector<GroupBytes> bytes_of_groups(const cases::Case& kase, const GridRank& own);

}  // namespace shardlings::grading::formulas

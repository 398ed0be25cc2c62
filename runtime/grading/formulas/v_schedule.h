/// \file
/// Pipelines that are folded to a V (puzzle 44): p ranks, 2p stages, of which rank r has stage r as its first chunk and
/// stage 2p-1-r as its second one. Orders of passes, when they begin and end, what they hold, and a bound for all.
///
/// F, B and W are the passes of a chunk: forward, backward_input and backward_weights, and the times that they take. In
/// letters the passes of the second chunk are small. A rank holds a chunk of a micro-batch from its F to its W.
///
/// **The bound.** Let all chunks take equally long and messages cost nothing. No order of passes ends earlier than the
/// latest of these, whatever the memory:
///
/// - (p-1)F + 2m(F+B+W): the last rank cannot begin before the first micro-batch has come through p-1 chunks, and has
///   3m passes of each of its two chunks then.
/// - (m-1)F + 2p(F+B) + W: the last micro-batch enters behind m-1 others, goes through 2p chunks and back, and a W is
///   left on rank 0.
///
/// The order v_order() is that of Qi et al. 2024 (arXiv 2401.10241, section 6) for passes that take equally long. With
/// m >= 2p-1 and F = B = W no rank waits between its first pass and its last one, so the step takes the first line of
/// the bound; and every rank holds 2p chunks, which is p micro-batches.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grading/formulas/zero_bubble.h"

namespace shardlings::grading::formulas {

struct ChunkPass {
  Pass pass = Pass::forward;
  int chunk = 0;  ///< 0 or 1
  bool operator==(const ChunkPass&) const = default;
};
/// What a rank does, one pass after another, each with the oldest micro-batch that has not had it yet.
using ChunkOrder = std::vector<ChunkPass>;
/// "FFFfbwBW": capital letters for the first chunk.
std::string letters_of(const ChunkOrder& order);

/// What there is to put in an order.
struct FoldedPlan {
  StageTimes chunk;
  int p = 1;
  int m = 1;

  /// Both chunks of a rank as one stage of a straight pipeline, with memory for p micro-batches.
  PassPlan unfolded() const;
};
/// Of a case whose layers are 2p times as many as each chunk has.
FoldedPlan folded_plan(const cases::Case& kase);
/// The layers of a chunk.
Range layers_of_chunk(const cases::Case& kase, int rank, int chunk);

/// Rank r's order of the V schedule without a bubble (ZB-V).
ChunkOrder v_order(const FoldedPlan& plan, int r);

/// A pass for one micro-batch on a rank.
struct PassOnRank {
  int rank = 0;
  ChunkPass pass;
  int micro = 0;
  bool operator==(const PassOnRank&) const = default;
};
/// The pass whose result this one takes: of the stage before for F, of the stage behind for B (the loss is part of the
/// last stage's B, which takes the output of its F), and B for W. None for F of the first stage.
std::optional<PassOnRank> needed_by(int p, const PassOnRank& pass);

/// A pass in a run: when what it takes is there, when it begins and ends, and when its rank was done with the one
/// before.
struct TimedPass {
  PassOnRank which;
  Nanos free, ready, begin, end;
};
/// By rank, in the order in which it runs them.
using Timetable = std::vector<std::vector<TimedPass>>;
/// If each rank goes along its order and messages take no time; nothing if they wait for one another.
std::optional<Timetable> timetable_along(const FoldedPlan& plan, const std::function<ChunkOrder(int)>& order);

/// From a rank's first pass to its last one.
struct RankSpan {
  Nanos begin, end;
};
/// By rank: of timetable_along.
std::optional<std::vector<RankSpan>> spans_along(const FoldedPlan& plan, const std::function<ChunkOrder(int)>& order);
/// When the last rank ends: of timetable_along.
std::optional<Nanos> end_along(const FoldedPlan& plan, const std::function<ChunkOrder(int)>& order);
/// No order ends earlier: see above.
Nanos lower_bound(const FoldedPlan& plan);

/// The most chunks that a rank holds along an order.
int most_held(const ChunkOrder& order);

/// A pass with its first call of the model.
struct FoundChunkPass {
  ChunkPass pass;
  front::Event first;
};
/// What a rank did, in program order, as its calls of the model show it.
std::vector<FoundChunkPass> chunk_passes_found(const judge::CheckContext& check, int rank);
ChunkOrder order_of(const std::vector<FoundChunkPass>& passes);

}  // namespace shardlings::grading::formulas

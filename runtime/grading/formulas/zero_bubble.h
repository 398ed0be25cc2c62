/// \file
/// Pipelines whose backward comes in two halves (puzzle 23): orders of passes, when they end, what they hold, and a
/// bound that no order can beat.
///
/// F, B and W are the passes of a stage: forward, backward_input and backward_weights, and the times that they take. A
/// rank holds a micro-batch from its F to its W. Which micro-batch a pass takes does not matter, since they are alike:
/// it is always the oldest one. So an order is a row of the letters F, B and W.
///
/// **The bound.** Let p stages take equally long, each rank hold at most M of m micro-batches, and messages cost
/// nothing. No order of passes ends earlier than the latest of these:
///
/// - rF + max(0, pF + (p-1-r)B - rF - min(M, m)F) + m(F+B+W), for every rank r. It cannot begin before rF, when the
/// first
///   micro-batch has come through r stages. Its first B cannot begin before pF + (p-1-r)B, when that micro-batch has
///   been to the last stage and back. Until then it can run forward only, and not with more than min(M, m)
///   micro-batches: the rest of that time it is idle. All of its 3m passes come on top.
/// - rF + that idle time + m(F+B) + max(0, m-M)W + rB + W. Before its last F a rank has finished at least m-M
///   micro-batches, else it would hold more than M; so its last B ends after m times F, m times B and m-M times W. The
///   gradient then goes up through r stages, and the first one has a W left. For the last rank, M = p <= m and no idle
///   time this is m(F+B+W) + (p-1)(F+B-W): the time of ZB-H1 in table 2 of Qi et al. 2024 (arXiv 2401.10241), which
///   therefore no order with as many micro-batches on a rank can beat; and with M = 2p-1 it is that of ZB-H2.
/// - rF + ((m-1) mod M)F + floor((m-1)/M) S + (p-r)(F+B) + max(W, rB + W), with S = (p-r)(F+B) + W. The k-th F of a
/// rank,
///   counted from 0, cannot begin before k-M+1 micro-batches are finished. One of them had its F at place k-M or later,
///   and from the beginning of an F to the end of its W it takes S. So F number k begins at least S after F number k-M.
///
/// Where stages differ, rF and the like are the sums of the stages on the way.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grading/formulas/pipeline.h"

namespace shardlings::grading::formulas {

enum class Pass : std::uint8_t { forward, input, weights };
/// What a rank does, one pass after another.
using PassOrder = std::vector<Pass>;
/// "FFFBWFBW": for reports.
std::string letters_of(const PassOrder& order);

/// Times of a stage.
struct StageTimes {
  Nanos forward, input, weights;
  Nanos all() const { return forward + input + weights; }
};
/// By rank, on a cluster with a table of calls.
std::vector<StageTimes> stage_times(const cases::Case& kase, const Pipeline& pipeline);

/// What there is to put in an order.
struct PassPlan {
  std::vector<StageTimes> times;  ///< by rank
  int m = 1;
  int most = 1;  ///< micro-batches that a rank may hold

  int p() const { return static_cast<int>(times.size()); }
};
/// Of a case with the number `most`.
PassPlan pass_plan(const cases::Case& kase);

/// \name Orders of rank r
/// @{
/// Forward as 1F1B, but p-1-r times more at first where the memory has room for it; W as late as the memory allows, and
/// one after each B once there is nothing to run forward. With most = p it is ZB-H1, with 2p-1 ZB-H2 (Qi et al. 2024).
PassOrder zero_bubble_order(const PassPlan& plan, int r);
/// 1F1B with no more micro-batches than the memory allows: each B, then its W.
PassOrder whole_backward_order(const PassPlan& plan, int r);
/// @}

/// When the last rank ends if each goes along its order and messages take no time; nothing if they wait for one
/// another.
std::optional<Nanos> end_along(const PassPlan& plan, const std::function<PassOrder(int)>& order);
/// No order ends earlier: see above.
Nanos lower_bound(const PassPlan& plan);

/// The most micro-batches that a rank holds along an order.
int most_held(const PassOrder& order);
/// The passes before the first one that is not a forward.
int leading_forwards(const PassOrder& order);
/// How often it has run B before its first W.
int inputs_before_weights(const PassOrder& order);

/// A pass with its first and its last call of the model.
struct FoundPass {
  Pass pass = Pass::forward;
  int micro = 0;
  front::Event first, last;
};
/// What a rank did, in program order, as its calls of the model show it.
std::vector<FoundPass> passes_found(const judge::CheckContext& check, const Pipeline& pipeline, int rank);
PassOrder order_of(const std::vector<FoundPass>& passes);

/// A rank's memory along an order, where an output stays until the gradient of its micro-batch is asked for, and at
/// most `most` gradients are on their way up.
struct PassMemory {
  judge::Formula<Bytes> peak = Bytes(0);
  std::vector<std::int64_t> after;  ///< by pass: alive after its last call of the model
};
PassMemory memory_along(const cases::Case& kase, int rank, const PassOrder& order);

}  // namespace shardlings::grading::formulas

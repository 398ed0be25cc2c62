/// \file
/// Why an order of passes of a pipeline that is folded to a V (puzzle 44) takes longer than v_order(): the first wait
/// that v_order() has not, and what the rank, or another one, could have done instead.
///
/// A wait is found where a rank begins a pass later than it was free, by more than it waits for that pass in v_order().
/// Its cause is one of two, and is told only with its proof:
///
/// - **the rank comes too soon**: what it waits for is there no later than in v_order(), and passes that v_order() runs
///   before it were ready before the wait was over, with room for them, maybe in place of forwards that came before
///   their time;
/// - **a rank comes too late**: what it waits for is late. Back along the passes that others took results from there is
///   one whose rank ran others first, which v_order() runs behind it, though everything was there for it.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "grading/formulas/v_schedule.h"

namespace shardlings::grading::formulas {

struct WaitCause {
  TimedPass waiting;                ///< the first pass that is waited for longer than in v_order()
  bool too_soon = false;            ///< whether `instead` could have run before `pass`; else they ran before it
  TimedPass pass;                   ///< that comes too soon or too late: `waiting`, or the late one behind that
  std::vector<PassOnRank> instead;  ///< on the same rank, in the order of v_order() or of the run
  bool all_forward = false;         ///< whether the rank had run all its forwards before `pass`
};

/// Nothing if there is no such wait, or none with a proof, or if ranks wait for one another.
std::optional<WaitCause> first_wait(const FoldedPlan& plan, const std::function<ChunkOrder(int)>& order);

/// The id of the diagnosis. Of micro-batch 0, on the way into the turns of six passes: first_chunk_short and
/// first_chunk_long (F before the first f), second_chunk_short and second_chunk_long (forwards before the first b),
/// turn_short and turn_long (passes of the second chunk before the first B). Else weights_too_late (waits with a W
/// left) and turns_out_of_order; and behind the last forward gaps_left_empty (waits with a W left), weights_too_early
/// (a W before a B that is waited for) and inputs_out_of_order.
const char* name_of_cause(const WaitCause& cause);

}  // namespace shardlings::grading::formulas

/// \file
/// Checks that graders of data-parallel and sharded training share. Each tells its caller whether it held; the caller
/// then names the mistake.
#pragma once

#include <optional>
#include <vector>

#include "grading/judge/grader.h"

namespace shardlings::grading::formulas {

/// The slowest rank's step ends within `limit` of virtual time; else it is also said how much of its
/// transfers was hidden. `where` is the line to look at; without one it is that of the longest standstill.
bool finishes_within(judge::CheckContext& check, const judge::Formula<Nanos>& limit, const wire::Place& where = {});

/// What a rank called later than it could.
struct LateCall {
  wire::Place place;
  bool found = false;  ///< a place says nothing: a call may stand nowhere
  explicit operator bool() const { return found; }
};
/// The first of `transfers` that was started after the end of the call of `computing` with the same number: the i-th
/// transfer is of what the i-th call computes.
LateCall first_late(const std::vector<front::Event>& transfers, const std::vector<front::Event>& computing);

/// None of `transfers` was started within a backward pass: while some of its layers had still to go backward.
bool starts_behind_backward(const judge::CheckContext& check, int rank, const std::vector<front::Event>& transfers);

/// \name Bytes on the wire
/// What a rank has sent; if that is wrong, the collectives that it called are listed as well.
/// @{
bool sends_exactly(judge::CheckContext& check, int rank, const judge::Formula<Bytes>& bytes);
bool sends_at_most(judge::CheckContext& check, int rank, const judge::Formula<Bytes>& bytes);
/// @}

/// \name Calls
/// @{
/// A rank calls a collective so often, in the whole run. Alone it has nobody to talk to, and may call what it likes. If
/// it does not hold, what was called is listed, and the line is that of the first call too many, or of what is in its
/// place.
bool calls_exactly(judge::CheckContext& check, int rank, front::Collective kind, const judge::Formula<Count>& number);
/// No more operations than so many collectives, whichever they are. N - 1 messages count as one: a ring written by
/// hand.
bool operations_at_most(judge::CheckContext& check, int rank, const judge::Formula<Count>& number);
/// The rank has called a collective more often than `number`, and sent no more bytes in it than `bytes` (but for what
/// the parts of that many pieces are rounded up): one call was cut into several.
bool cut_into_pieces(const judge::CheckContext& check, int rank, front::Collective kind, Count number, Bytes bytes);
/// Some all-reduce of the rank is of a single number.
bool reduces_one_number(const judge::CheckContext& check, int rank);
/// What other ranks have comes to the rank by reduce-scatters and by all-gathers.
bool sums_in_two_halves(const judge::CheckContext& check, int rank);
/// @}

/// \name Memory
/// @{
/// After the last backward of the first step the inputs of layers above layer 0 are still alive, or as many other
/// activations: told from the kinds of memory.
bool keeps_inputs(const judge::CheckContext& check, int rank);
/// What was alive on the rank's device after a call, by kind; nothing if the curve of memory does not tell.
std::optional<front::KindBytes> alive_after(const judge::CheckContext& check, int rank, const front::Event& event);
/// @}

/// Adam's m and v, whole or in parts.
bool equal_moments(judge::CheckContext& check);
/// What each rank put into `loss`, if the case has a single step: of more it is that of the last one, whose weights are
/// not those of the case.
bool equal_loss_shares(judge::CheckContext& check);

/// Every rank has published the loss of all ranks, not its share.
bool whole_loss_everywhere(const judge::CheckContext& check);

/// A rank has run forward and backward for the batches of all ranks.
bool whole_batch_everywhere(const judge::CheckContext& check, int rank);
/// A rank has run forward or backward of more layers than its own batch needs, but not for all ranks.
bool computes_twice(const judge::CheckContext& check, int rank);

}  // namespace shardlings::grading::formulas

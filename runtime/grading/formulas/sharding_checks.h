/// \file
/// Checks that graders of data-parallel and sharded training share. Each tells its caller whether it held; the caller
/// then names the mistake.
#pragma once

#include "grading/judge/grader.h"

namespace shardlings::grading::formulas {

/// The slowest rank's step ends within `limit` of virtual time; else it is also said how much of its
/// transfers was hidden.
bool finishes_within(judge::CheckContext& check, const judge::Formula<Nanos>& limit);

/// \name Bytes on the wire
/// What a rank has sent; if that is wrong, the collectives that it called are listed as well.
/// @{
bool sends_exactly(judge::CheckContext& check, int rank, const judge::Formula<Bytes>& bytes);
bool sends_at_most(judge::CheckContext& check, int rank, const judge::Formula<Bytes>& bytes);
/// @}

/// Adam's m and v, whole or in parts.
bool equal_moments(judge::CheckContext& check);
/// What each rank put into `loss`, if the case has a single step: of more it is that of the last one, whose weights are
/// not those of the case.
bool equal_loss_shares(judge::CheckContext& check);

/// A rank has run forward for the batches of all ranks.
bool whole_batch_everywhere(const judge::CheckContext& check, int rank);

}  // namespace shardlings::grading::formulas

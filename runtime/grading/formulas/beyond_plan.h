/// \file
/// What a run did beyond its plan: a call too many, a collective, memory on the host. Gives the diagnoses
/// built_in_collective and parked_on_host.
#pragma once

#include <cstdint>
#include <string>

#include "grading/judge/grader.h"

namespace shardlings::grading::formulas {

/// The line of the first call of that kind after the `planned` ones; of the last call if there are not more; nowhere if
/// there is none.
wire::Place place_beyond(const judge::CheckContext& check, int rank, front::EventKind kind, std::int64_t planned);

/// No rank called a collective, where the puzzle is about making one of messages. Fails the check otherwise, as
/// built_in_collective. Calls in a group of the name `of_harness` are the harness's own, and barriers are refused
/// anyway (judge/needless_calls.h).
bool messages_only(judge::CheckContext& check, const std::string& of_harness = "");

/// No rank had anything in the host's memory, where a peak of device memory does not count it. Fails the check
/// otherwise, as parked_on_host.
bool nothing_on_host(judge::CheckContext& check);

}  // namespace shardlings::grading::formulas

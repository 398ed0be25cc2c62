/// \file
/// What a run did beyond its plan: a call too many, memory on the host. Gives the diagnosis parked_on_host.
#pragma once

#include <cstdint>

#include "grading/judge/grader.h"

namespace shardlings::grading::formulas {

/// The line of the first call of that kind after the `planned` ones; of the last call if there are not more; nowhere if
/// there is none.
wire::Place place_beyond(const judge::CheckContext& check, int rank, front::EventKind kind, std::int64_t planned);

/// No rank had anything in the host's memory, where a peak of device memory does not count it. Fails the check
/// otherwise, as parked_on_host.
bool nothing_on_host(judge::CheckContext& check);

}  // namespace shardlings::grading::formulas

/// \file
/// What a jail takes from itself before it runs the learner's code. What needs more rights than its user's is done
/// before it is started (broker/jails.cpp).
#pragma once

#include "boundary/walls.h"

namespace shardlings::boundary {

/// For the rest of this process's life: system calls but those that memory, waiting, and writing to standard output and
/// error take end it with SIGSYS, and the processor's clock with SIGSEGV. Sets of `walls` what stands.
void close_in(Walls& walls);

}  // namespace shardlings::boundary

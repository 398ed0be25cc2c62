/// \file
/// Makes a run one on a backend.
#pragma once

#include "world/backend.h"
#include "world/world.h"

namespace shardlings::world {

/// Sets the parts of `options` for a backend and options.ranks. For mpi it starts MPI, which mpirun must have started
/// this process for. Throws std::runtime_error with what is missing.
void use_backend(Options& options, Backend backend);
/// Ends what use_backend() has started, and what does not end by itself: for mpi all processes call it.
void leave_backend(Backend backend);

}  // namespace shardlings::world

/// \file
/// MPI between the processes of a run. It lies in a library of its own, which is loaded when it is asked for, so that
/// neither building nor starting needs it.
#pragma once

#include <string>

#include "back/transport/progress.h"

namespace shardlings::back {

/// "Open MPI 4.1.4"; empty if MPI cannot be used, and then `problem` says why and what to do. Starts nothing.
std::string mpi_version(std::string& problem);

/// MPI as mpirun has started this process; alone if it has not. Starts MPI at the first call, and never ends it by
/// itself: a process that ends in the middle of a run must not wait for the others. Throws std::runtime_error with the
/// problem.
Progress& mpi_progress();
/// Ends MPI. All processes call it, and nothing may be sent any more.
void end_mpi();

}  // namespace shardlings::back

/// \file
/// With the backend mpi, inside one of the processes that mpirun has started: it serves many cases, together with
/// others like it. Who starts them and watches over them is grading/run/crew.h.
#pragma once

#include <functional>

#include "submission/wire/memory_file.h"
#include "world/backend.h"

namespace shardlings::submission {

/// Runs cases until there are no more. Process 0 reads them from its standard input, a line for each: the path of the
/// case's file, that of the file which takes what is printed, and the seconds of processor time that each process has
/// for it; anything else is the end. The paths are of this machine; a process on another one has a file of its own
/// instead, of which the pulse tells (supervisors_file.h). Returns the exit status.
int serve_cases(world::Backend backend, const std::function<void(wire::MappedFile&)>& run_case);

}  // namespace shardlings::submission

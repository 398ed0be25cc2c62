/// \file
/// How many processes the backend mpi gets, and where: what the user wants, what started us, what hosts there are.
#pragma once

#include <string>
#include <vector>

#include "grading/run/mpi_hosts.h"
#include "grading/run/mpirun.h"
#include "world/mpi_surroundings.h"

namespace shardlings::grading::run {

/// What the user asks for; 0 and nothing: whatever fits.
struct MpiWish {
  int processes = 0;
  int ranks_per_process = 0;
  std::string hostfile{};  ///< path

  bool any() const { return processes > 0 || ranks_per_process > 0 || !hostfile.empty(); }
};

/// A process for each of `ranks` ranks, unless something says otherwise, in this order: the wish, the mpirun around us,
/// the hosts' slots, the batch system's job, and on one host kMostProcessesHere. Never more than ranks. `slots`: of the
/// hosts, 0 if none are named. Throws std::runtime_error if there are too few slots, and says what to do.
int processes_for(const MpiWish& wish, int ranks, int slots, const world::MpiSurroundings& around);
inline constexpr int kMostProcessesHere = 8;

/// The whole start for up to `ranks` ranks, with the MPI that is called `mpi` (mpirun.h). Throws std::runtime_error
/// with what is missing and what to do.
MpiStart plan_start(const std::string& mpi, const MpiWish& wish, int ranks, const world::MpiSurroundings& around);

}  // namespace shardlings::grading::run

/// \file
/// Whether this process was itself started as one of several, by mpirun or srun, and what a batch system has set apart
/// for it.
#pragma once

#include <functional>
#include <string>

namespace shardlings::world {

struct MpiSurroundings {
  std::string starter{};  ///< "mpirun (Open MPI)"; empty: nobody has started several of us
  int processes = 1;      ///< that were started
  int number = 0;         ///< this one, from 0
  int reserved = 0;       ///< tasks of the batch job in whose script we are; 0: there is none

  bool is_one_of_many() const { return !starter.empty() && processes > 1; }
};

/// From the variables that Open MPI, MPICH's Hydra and Slurm's PMI leave. `variable` is std::getenv, but for tests.
MpiSurroundings mpi_surroundings(const std::function<const char*(const char*)>& variable);

}  // namespace shardlings::world

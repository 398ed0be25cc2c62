#include "world/mpi_surroundings.h"

#include <cstdlib>

namespace shardlings::world {
namespace {

struct Starter {
  const char* name;
  const char* processes;  ///< variables
  const char* number;
};

/// The first one whose variables are there. That Slurm sets SLURM_PROCID says nothing: it does so in a batch script,
/// too.
constexpr Starter kStarters[] = {{"mpirun (Open MPI)", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                 {"mpiexec (MPICH) or srun", "PMI_SIZE", "PMI_RANK"},
                                 {"srun (PMIx)", "SLURM_STEP_NUM_TASKS", "PMIX_RANK"}};

}  // namespace

MpiSurroundings mpi_surroundings(const std::function<const char*(const char*)>& variable) {
  MpiSurroundings found;
  for (const Starter& starter : kStarters) {
    const char* processes = variable(starter.processes);
    const char* number = variable(starter.number);
    if (processes == nullptr || number == nullptr || std::atoi(processes) < 1) continue;
    found.starter = starter.name;
    found.processes = std::atoi(processes);
    found.number = std::atoi(number);
    return found;
  }
  const char* tasks = variable("SLURM_JOB_ID") != nullptr ? variable("SLURM_NTASKS") : nullptr;
  if (tasks != nullptr) found.reserved = std::atoi(tasks);
  return found;
}

}  // namespace shardlings::world

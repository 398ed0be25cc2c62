/// \file
/// Which backend a run gets: what was wished for, what the cases need, what the machine has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "case/case.h"
#include "grading/run/mpi_plan.h"
#include "world/backend.h"
#include "world/machine.h"
#include "world/mpi_surroundings.h"

namespace shardlings::grading::run {

using world::Backend;
using world::Machine;

/// A wish as it is written: "cpu", "cuda", "nccl", "mpi", or "auto", which is no backend. Throws std::runtime_error
/// that lists them for anything else.
std::optional<Backend> backend_wished(const std::string& word);

struct BackendChoice {
  Backend backend = Backend::cpu;
  std::string why;  ///< one sentence for the user; empty where there was nothing to choose
  std::string mpi;  ///< how processes are started, where the backend has several (to_text() in mpirun.h)
};

/// Chooses for these cases. nullopt stands for auto: MPI if mpirun has started us several times, else NCCL if there is
/// a GPU for every rank of every case and NCCL, else one GPU if there is any, else the CPU. Throws std::runtime_error
/// with what is missing for a backend that was asked for, and what to do.
BackendChoice choose_backend(std::optional<Backend> wish, const Machine& machine, const std::vector<cases::Case>& cases,
                             const world::MpiSurroundings& around = {});

/// All that is wished for, and what has started us.
struct BackendWish {
  std::string word;  ///< as for backend_wished()
  MpiWish mpi{};
  world::MpiSurroundings around{};
};

/// The same, looking at the machine only if the answer depends on it, with the start of processes where there are to be
/// several. `probe` as for examine_machine().
BackendChoice choose_backend(const BackendWish& wish, const std::string& probe, const std::vector<cases::Case>& cases);

/// What the program `probe` says of the machine (gpu_probe.h). Asked in a process of its own: a driver may hang or
/// crash, and must not be loaded into a process that forks. Where it gives no answer, the machine has no GPUs, and says
/// why.
Machine examine_machine(const std::string& probe);

}  // namespace shardlings::grading::run

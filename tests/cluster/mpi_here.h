/// \file
/// Whether runs over MPI can be tried here.
#pragma once

#include <stdexcept>
#include <string>

#include "grading/run/backend_choice.h"
#include "grading/run/mpirun.h"

namespace shardlings::cluster {

/// Why not; empty if they can.
inline std::string mpi_missing() try {
  const grading::run::Machine machine = grading::run::examine_machine(SHARDLINGS_PROBE);
  if (machine.mpi.empty()) return machine.mpi_problem;
  grading::run::find_launcher(machine.mpi);
  return "";
} catch (const std::runtime_error& error) {
  return error.what();
}

}  // namespace shardlings::cluster

/// \file
/// What this machine has that backends need.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shardlings::world {

/// The GPUs of this machine and the libraries for them.
struct Machine {
  struct Gpu {
    std::string name;
    std::int64_t memory = 0;  ///< bytes
    int capability = 0;       ///< ten times the version of the architecture
  };
  std::vector<Gpu> gpus;
  std::string gpu_problem;   ///< why there are none and what to do; empty if there are some
  std::string cuda;          ///< "13.0": of the library that was built; empty: it was not built
  std::string driver;        ///< "13.0": the newest CUDA that the driver can do; empty: there is no driver
  std::string nccl;          ///< "2.28.9"; empty: not usable
  std::string nccl_problem;  ///< why, and what to do
  std::string mpi;           ///< "Open MPI 4.1.4": that the library was built with; empty: not usable
  std::string mpi_problem;   ///< why, and what to do
};

/// Loads the libraries, asks the driver. Never throws. Takes a while, and leaves a driver in the process: programs that
/// fork ask another process (grading/run/backend_choice.h).
Machine look_at_machine();

}  // namespace shardlings::world

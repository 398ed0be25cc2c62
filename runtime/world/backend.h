/// \file
/// On what a run's numbers are computed, and what each backend promises. Counters and virtual time are the same on all.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "world/world.h"

namespace shardlings::world {

enum class Backend : std::uint8_t {
  cpu,   ///< ranks are threads of the host
  cuda,  ///< ranks share one GPU, and exchange data by copies on it
  nccl,  ///< each rank has a GPU of its own, and NCCL moves the data
  dry,   ///< nothing is computed or moved, and one thread runs all ranks: for `simulate`
  mpi    ///< ranks are spread over processes that mpirun has started, on one host or several
};
inline constexpr int kBackends = 5;

/// What differs between backends. docs/gpu.md has this as a table.
struct Capabilities {
  Backend backend = Backend::cpu;
  const char* name = "";           ///< "cpu"
  const char* ranks = "";          ///< how many ranks it runs
  bool sums_in_rank_order = true;  ///< reductions are bit-identical to the CPU's; else equal within the tolerance
  bool equal_every_run = true;     ///< two runs of one program give the same bits
  bool needs_gpu = false;
  bool gpu_per_rank = false;
  bool measures_time = false;  ///< beside virtual time
  bool computes = true;        ///< false: there are counters and virtual time, but no numbers
  bool processes = false;      ///< ranks are spread over several, which mpirun starts
};
const Capabilities& capabilities_of(Backend backend);
const char* name_of(Backend backend);
std::optional<Backend> backend_from(std::string_view name);

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

/// Sets the parts of `options` for a backend and options.ranks. For mpi it starts MPI, which mpirun must have started
/// this process for. Throws std::runtime_error with what is missing.
void use_backend(Options& options, Backend backend);
/// Ends what use_backend() has started, and what does not end by itself: for mpi all processes call it.
void leave_backend(Backend backend);

}  // namespace shardlings::world

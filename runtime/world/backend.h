/// \file
/// On what a run's numbers are computed, and what each backend promises. Counters and virtual time are the same on all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace shardlings::world

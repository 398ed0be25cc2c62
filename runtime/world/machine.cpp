#include "world/machine.h"

#include <fmt/format.h>

#include <utility>

#include "back/fabric/nccl.h"
#include "back/kernels/gpus.h"
#include "back/transport/mpi.h"

namespace shardlings::world {
namespace {

/// 13010 is "13.1"; empty for 0.
std::string version_text(int version) {
  return version > 0 ? fmt::format("{}.{}", version / 1000, version % 1000 / 10) : std::string();
}

}  // namespace

Machine look_at_machine() {
  Machine machine;
  back::Gpus gpus = back::find_gpus();
  for (back::Gpu& gpu : gpus.found) {
    machine.gpus.push_back({std::move(gpu.name), gpu.memory.value(), gpu.capability});
  }
  machine.gpu_problem = std::move(gpus.problem);
  machine.cuda = version_text(gpus.toolkit);
  machine.driver = version_text(gpus.driver);
  machine.nccl = back::nccl_version(machine.nccl_problem);
  machine.mpi = back::mpi_version(machine.mpi_problem);
  return machine;
}

}  // namespace shardlings::world

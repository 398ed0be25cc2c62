#include "world/use_backend.h"

#include <fmt/format.h>

#include <stdexcept>

#include "back/fabric/nccl.h"
#include "back/kernels/gpus.h"
#include "back/transport/mpi.h"

namespace shardlings::world {

void use_backend(Options& options, Backend backend) {
  if (backend == Backend::cpu) return;
  if (backend == Backend::dry) {
    options.make_engine = [] { return back::make_fibers_engine(); };
    options.make_device = [](int) { return back::make_dry_device(); };
    options.make_fabric = back::make_dry_fabric;
    return;
  }
  if (backend == Backend::mpi) {
    options.progress = &back::mpi_progress();
    return;
  }
  const back::Gpus gpus = back::find_gpus();
  if (gpus.found.empty()) throw std::runtime_error(fmt::format("backend {}: {}", name_of(backend), gpus.problem));
  const bool gpu_per_rank = capabilities_of(backend).gpu_per_rank;
  if (gpu_per_rank && static_cast<std::size_t>(options.ranks) > gpus.found.size()) {
    throw std::runtime_error(fmt::format("backend {}: {} ranks need as many GPUs, and there are {}", name_of(backend),
                                         options.ranks, gpus.found.size()));
  }
  options.make_device = [gpu_per_rank](int rank) { return back::make_cuda_device(gpu_per_rank ? rank : 0); };
  if (gpu_per_rank) {
    options.make_fabric = [ranks = options.ranks] { return back::make_nccl_fabric(ranks); };
  } else {
    options.make_fabric = back::make_device_copy_fabric;
  }
}

void leave_backend(Backend backend) {
  if (backend == Backend::mpi) back::end_mpi();
}

}  // namespace shardlings::world

#include "world/backend.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <utility>

#include "back/fabric/nccl.h"
#include "back/kernels/gpus.h"
#include "back/transport/mpi.h"

namespace shardlings::world {
namespace {

constexpr std::array<Capabilities, kBackends> kCapabilities{{
    {.backend = Backend::cpu, .name = "cpu", .ranks = "any number"},
    {.backend = Backend::cuda,
     .name = "cuda",
     .ranks = "any number; they share one GPU",
     .needs_gpu = true,
     .measures_time = true},
    {.backend = Backend::nccl,
     .name = "nccl",
     .ranks = "as many as there are GPUs",
     .sums_in_rank_order = false,
     .equal_every_run = false,
     .needs_gpu = true,
     .gpu_per_rank = true,
     .measures_time = true},
    {.backend = Backend::dry, .name = "dry", .ranks = "any number; thousands", .computes = false},
    {.backend = Backend::mpi, .name = "mpi", .ranks = "any number; one or several in each process", .processes = true},
}};

/// 13010 is "13.1"; empty for 0.
std::string version_text(int version) {
  return version > 0 ? fmt::format("{}.{}", version / 1000, version % 1000 / 10) : std::string();
}

}  // namespace

const Capabilities& capabilities_of(Backend backend) {
  return kCapabilities[static_cast<std::size_t>(backend)];
}

const char* name_of(Backend backend) {
  return capabilities_of(backend).name;
}

std::optional<Backend> backend_from(std::string_view name) {
  for (const Capabilities& known : kCapabilities) {
    if (name == known.name) return known.backend;
  }
  return std::nullopt;
}

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

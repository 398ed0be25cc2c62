#include "world/backend.h"

#include <array>

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

}  // namespace shardlings::world

#include "grading/run/mpi_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace shardlings::grading::run {
namespace {

int quotient_rounded_up(int a, int b) {
  return (a + b - 1) / b;
}

/// What there is without a wish.
int processes_offered(int ranks, int slots, const world::MpiSurroundings& around) {
  if (around.is_one_of_many()) return around.processes;
  if (slots > 0) return slots;
  return around.reserved > 0 ? around.reserved : std::min(ranks, kMostProcessesHere);
}

void check_slots(int processes, int ranks, int slots, const world::MpiSurroundings& around) {
  const int most = slots > 0 ? slots : around.reserved;
  if (most == 0 || processes <= most) return;
  const std::string fewer =
      fmt::format("let each process have several ranks: --ranks-per-process {}", quotient_rounded_up(ranks, most));
  throw std::runtime_error(
      slots > 0
          ? fmt::format("The hosts have {} slots, and {} processes were asked for. Raise slots= in the file of hosts, "
                        "or {}.",
                        most, processes, fewer)
          : fmt::format("The batch job has {} tasks, and {} processes were asked for. Ask for more tasks (sbatch "
                        "--ntasks={}), or {}.",
                        most, processes, processes, fewer));
}

}  // namespace

int processes_for(const MpiWish& wish, int ranks, int slots, const world::MpiSurroundings& around) {
  int processes = wish.processes;
  if (processes == 0 && wish.ranks_per_process > 0) processes = quotient_rounded_up(ranks, wish.ranks_per_process);
  if (processes == 0) processes = processes_offered(ranks, slots, around);
  processes = std::min(processes, ranks);
  check_slots(processes, ranks, slots, around);
  return processes;
}

MpiStart plan_start(const std::string& mpi, const MpiWish& wish, int ranks, const world::MpiSurroundings& around) {
  MpiStart start;
  if (!wish.hostfile.empty()) {
    start.hosts = with_this_host_first(read_hosts(wish.hostfile), wish.hostfile, is_this_host);
  }
  start.processes = processes_for(wish, ranks, slots_of(start.hosts), around);
  start.launcher = find_launcher(mpi);
  return start;
}

}  // namespace shardlings::grading::run

// All-reduces over MPI, this runtime's beside plain MPI's: by turns, in one run, with the same library.
//
//   mpirun -n 2 bench_mpi_all_reduce [--try]      CSV: bytes, median us of both, and their ratio
//
// --try: few and small ones, to see that it works.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "back/transport/mpi.h"
#include "shardlings/puzzle.h"
#include "world/use_backend.h"
#include "world/world.h"

namespace {

using namespace shardlings;
using Clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int repeats(std::int64_t bytes, bool is_try) {
  if (is_try) return 3;
  return bytes <= 65536 ? 500 : bytes <= (1 << 20) ? 100 : 7;
}

constexpr int kBefore = 3;  ///< that are not counted

/// Median seconds of `step` on rank 0, all ranks meeting before each.
template <class Meet, class Step>
double measured(int rounds, const Meet& meet, const Step& step) {
  std::vector<double> times;
  for (int k = -kBefore; k < rounds; ++k) {
    meet();
    const auto begin = Clock::now();
    step();
    if (k >= 0) times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return median(std::move(times));
}

/// Under the lock of who drives MPI here, which so makes no calls of its own meanwhile.
double plain(back::Progress& progress, std::int64_t bytes, int rounds) {
  std::vector<float> data(static_cast<std::size_t>(bytes / 4), 1.0F);
  const int count = static_cast<int>(data.size());
  return progress.locked([&] {
    return measured(
        rounds, [] { MPI_Barrier(MPI_COMM_WORLD); },
        [&] { MPI_Allreduce(MPI_IN_PLACE, data.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
  });
}

double ours(int ranks, std::int64_t bytes, int rounds) {
  world::Options options;
  options.ranks = ranks;
  options.cluster.ranks_per_node = ranks;
  options.trace = false;
  use_backend(options, world::Backend::mpi);
  double seconds = 0;
  const auto report = world::run(options, [&](Rank& rank) {
    Tensor data = rank.zeros(bytes / 4, Kind::buffer);
    const double mine = measured(
        rounds, [&] { rank.world().barrier(); }, [&] { rank.world().all_reduce(data, ReduceOp::sum); });
    if (rank.id() == 0) seconds = mine;
  });
  if (report.failure) std::fprintf(stderr, "%s\n", report.failure->message.c_str());
  return seconds;
}

/// Both several times by turns: the medians, and the median of the ratios.
void compare(back::Progress& progress, std::int64_t bytes, int turns, int rounds) {
  std::vector<double> anchor, own, ratio;
  for (int turn = 0; turn < turns; ++turn) {
    anchor.push_back(plain(progress, bytes, rounds));
    own.push_back(ours(progress.processes(), bytes, rounds));
    ratio.push_back(own.back() / anchor.back());
  }
  if (progress.process() != 0) return;
  std::printf("%lld,%.2f,%.2f,%.2f\n", static_cast<long long>(bytes), median(anchor) * 1e6, median(own) * 1e6,
              median(ratio));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_try = argc > 1 && std::strcmp(argv[1], "--try") == 0;
  back::Progress& progress = back::mpi_progress();
  if (progress.process() == 0) std::printf("bytes,plain MPI us,ours us,ratio (%d processes)\n", progress.processes());
  for (const std::int64_t bytes : {8, 4096, 65536, 1 << 20, 16 << 20, 64 << 20}) {
    if (is_try && bytes > 65536) break;
    constexpr int kTurns = 5;
    compare(progress, bytes, is_try ? 1 : kTurns, repeats(bytes, is_try));
  }
  back::end_mpi();
  return 0;
}

// all_reduce of several ranks on one GPU, beside what its memory allows, and, with several GPUs, NCCL's bus bandwidth
// through the whole runtime. `all_reduce_perf` of NVIDIA's nccl-tests, where it is installed, gives the ceiling of the
// latter: tests/gpu/run starts both.
//
// On one GPU each of N ranks reduces its part of everybody's S bytes and copies the others' parts: all together read
// N S + (N-1) S and write S + (N-1) S, that is (3 N - 1) S in all. Bus bandwidth is 2 (N-1)/N S by the time, as
// nccl-tests counts it.
#include <fmt/format.h>

#include "back/kernels/kernel_ids.h"
#include "base/dtype.h"
#include "bench/gpu/bench.h"
#include "shardlings/puzzle.h"
#include "world/world.h"

namespace shardlings::bench {
namespace {

constexpr double kGiga = 1e9;

/// Seconds of one all_reduce of `count` f32 by so many ranks.
double all_reduce(const Place& place, world::Backend backend, int ranks, Count count) {
  world::Options options;
  options.ranks = ranks;
  options.trace = false;
  use_backend(options, backend);
  double seconds = 0;
  const auto report = world::run(options, [&](Rank& rank) {
    Tensor data = rank.zeros(count, Kind::buffer);
    const Tensor last = rank.zeros(1, Kind::buffer);
    const View view = data;
    // All ranks make the same number of calls: rank 0 measures, the others follow it.
    const int calls = place.is_trial ? 1 : 50;
    const auto series = [&] {
      rank.world().barrier();
      rank.read(last);
      for (int i = 0; i < calls; ++i) rank.world().all_reduce(view, ReduceOp::sum);
      rank.read(view.part({0, 1}));
      rank.world().barrier();
    };
    series();
    const double taken = seconds_of([] {}, series, true);
    if (rank.id() == 0) seconds = taken / calls;
  });
  if (report.failure) throw std::runtime_error(report.failure->message);
  return seconds;
}

/// What a plain copy gets, reading and writing.
double memory_bandwidth(const Place& place, Bytes size) {
  const auto device = place.make_device();
  void* from = device->allocate(size);
  void* to = device->allocate(size);
  back::Kernel copy;
  copy.id = back::KernelId::copy;
  copy.out[0] = to;
  copy.in[0] = from;
  copy.n[0] = size.value();
  const double seconds = seconds_of([&] { device->synchronize(); }, [&] { device->launch(copy); }, place.is_trial);
  device->release(from, size);
  device->release(to, size);
  return 2 * static_cast<double>(size.value()) / seconds / kGiga;
}

void all_reduces(const Place& place) {
  const Count count = place.size(Count{1} << 26U, 1000);
  const Bytes size = bytes_of(count, DType::f32);
  const auto bytes = static_cast<double>(size.value());
  const double ceiling = memory_bandwidth(place, size);
  for (const int ranks : {2, 4, 8}) {
    const double seconds = all_reduce(place, place.backend, ranks, count);
    print(fmt::format("all_reduce, {} ranks on one GPU, {} MiB", ranks, size.value() >> 20),
          (3.0 * ranks - 1) * bytes / seconds / kGiga, "GB/s", ceiling, "copy");
  }
  if (place.gpus < 2 || place.is_trial) {
    fmt::print("skipped: NCCL's bus bandwidth takes 2 GPUs\n");
    return;
  }
  const double seconds = all_reduce(place, world::Backend::nccl, place.gpus, count);
  print(fmt::format("NCCL all_reduce, {} GPUs, {} MiB, bus bandwidth", place.gpus, size.value() >> 20),
        2.0 * (place.gpus - 1) / place.gpus * bytes / seconds / kGiga, "GB/s");
}

}  // namespace
}  // namespace shardlings::bench

int main(int argc, char** argv) {
  return shardlings::bench::run(argc, argv, 1, shardlings::bench::all_reduces);
}

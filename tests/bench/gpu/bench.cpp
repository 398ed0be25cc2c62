#include "bench/gpu/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>

#include "back/kernels/gpus.h"

namespace shardlings::bench {

std::unique_ptr<back::Device> Place::make_device() const {
  return is_trial ? back::make_cpu_device() : back::make_cuda_device(0);
}

int run(int argc, char** argv, int gpus, const std::function<void(const Place&)>& benchmarks) try {
  Place place;
  place.is_trial = argc == 2 && std::string_view(argv[1]) == "--try";
  if (argc > 1 && !place.is_trial) throw std::runtime_error("usage: [--try]");
  const back::Gpus machine = back::find_gpus();
  place.gpus = static_cast<int>(machine.found.size());
  if (place.is_trial) {
    place.backend = world::Backend::cpu;
    place.gpu = "CPU, a trial: no figure means anything";
  } else if (place.gpus < gpus) {
    fmt::print("skipped: {}\n", machine.found.empty() ? machine.problem : fmt::format("it takes {} GPUs", gpus));
    return kSkipped;
  } else {
    place.gpu = machine.found[0].name;
  }
  fmt::print("# {}\n", place.gpu);
  benchmarks(place);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}

double seconds_of(const std::function<void()>& synchronize, const std::function<void()>& work, bool is_trial) {
  using Clock = std::chrono::steady_clock;
  const auto timed = [&](int calls) {
    synchronize();
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) work();
    synchronize();
    return std::chrono::duration<double>(Clock::now() - begin).count() / calls;
  };
  constexpr double kSeries = 0.2;
  constexpr int kMostCalls = 10000;
  timed(is_trial ? 1 : 3);
  const double once = timed(1);
  const int calls = is_trial ? 1 : std::clamp(static_cast<int>(kSeries / once), 3, kMostCalls);
  double best = timed(calls);
  for (int series = 1; series < (is_trial ? 1 : 5); ++series) best = std::min(best, timed(calls));
  return best;
}

void print(const std::string& name, double value, const std::string& unit, double ceiling,
           const std::string& ceiling_name) {
  if (ceiling > 0) {
    fmt::print("| {} | {:.4g} {} | {} {:.4g} | {:.0f} % |\n", name, value, unit, ceiling_name, ceiling,
               100 * value / ceiling);
  } else {
    fmt::print("| {} | {:.4g} {} | | |\n", name, value, unit);
  }
  std::fflush(stdout);
}

}  // namespace shardlings::bench

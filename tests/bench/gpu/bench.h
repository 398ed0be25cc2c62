/// \file
/// What the benchmarks on GPUs have in common: where they run, how they measure, how they print.
///
/// Each figure stands beside what it could be at best, measured in the same run. Without a GPU they say so and end with
/// kSkipped. `--try` runs them on the CPU at tiny sizes, which proves that they work and says nothing else.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "back/kernels/kernels.h"
#include "world/use_backend.h"

namespace shardlings::bench {

inline constexpr int kSkipped = 77;  ///< exit status

struct Place {
  bool is_trial = false;
  world::Backend backend = world::Backend::cuda;
  int gpus = 0;
  std::string gpu;  ///< its name

  std::unique_ptr<back::Device> make_device() const;
  /// `full`, or `tiny` in a trial.
  Count size(Count full, Count tiny) const { return is_trial ? tiny : full; }
};

/// Runs `benchmarks` where the arguments say; returns the exit status. `gpus`: so many are needed.
int run(int argc, char** argv, int gpus, const std::function<void(const Place&)>& benchmarks);

/// Seconds that one call of `work` takes on the device: the shortest of a few series, each long enough to be timed from
/// the host, with nothing else between its two ends.
double seconds_of(const std::function<void()>& synchronize, const std::function<void()>& work, bool is_trial);

/// A line of the table: "| name | 2.9 TB/s | copy 3.1 TB/s | 94 % |". `ceiling` 0: there is none.
void print(const std::string& name, double value, const std::string& unit, double ceiling = 0,
           const std::string& ceiling_name = "");

}  // namespace shardlings::bench

/// \file
/// What is the same for every rank of a run and is decided before it begins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "front/clock/cluster.h"
#include "front/clock/death.h"
#include "front/misuse/black_box.h"
#include "model/execution.h"

namespace shardlings::front {

struct RankOptions {
  Cluster cluster;
  Bytes capacity{std::int64_t{1} << 40};       ///< of each device
  Bytes host_capacity{std::int64_t{1} << 40};  ///< of each rank's part of the host's memory
  bool poison_empty = false;                   ///< fill fresh memory with NaN
  bool trace = true;
  /// The ranks that leave a trace; nothing: all. Sorted. A trace of thousands of ranks takes gigabytes.
  std::optional<std::vector<int>> traced;
  bool traces(int rank) const { return trace && (!traced || std::binary_search(traced->begin(), traced->end(), rank)); }
  /// A rank that calls so often, or leaves so many records in its trace, loops for ever: it is stopped. 0: it never is.
  std::int64_t endless = 0;
  /// Where nothing is computed and no trace is left, calls of the model are repeated from recipes: see
  /// front/model/recipe.h. All is the same without.
  bool recipes = true;
  model::Execution execution;
  /// As many equal replicas of consecutive ranks, of which some stand for the others (front/group/fold.h); 0: all run.
  int folded_replicas = 0;
  std::vector<Death> deaths;      ///< of at most one a rank; all others live
  Nanos detection;                ///< from a death until others can know of it
  bool checks = true;             ///< misuse detection; off only for measuring what it costs
  BlackBox* black_box = nullptr;  ///< where each rank notes what it is doing; nullptr: nowhere
};

}  // namespace shardlings::front

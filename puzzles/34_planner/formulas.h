// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// What a layout takes, by the formulas of puzzle 34: as its grader judges layouts that no table has, and as known
// mistakes would have it.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "possible.h"
#include "shardlings/planner.h"

namespace shardlings::planning {

inline const BlockProfile& profile_of(const PlannedJob& job, const Layout& layout) {
  const auto found = std::ranges::find_if(job.profile, [&](const BlockProfile& row) {
    return row.tp == layout.tp && row.batch == layout.batch && row.recomputed == layout.recomputed;
  });
  return *found;
}

inline double weights(const PlannedJob& job, const Layout& layout, int stage) {
  const int tables = (stage == 0 ? 1 : 0) + (stage == layout.pp - 1 ? 1 : 0);
  return (static_cast<double>(job.layers / layout.pp * job.block_weights) +
          tables * static_cast<double>(job.table_weights)) /
         layout.tp;
}

/// Chunks that have run forward and not yet backward, at most: of puzzles 20 and 21.
inline double in_flight(const PlannedJob& job, const Layout& layout, int stage) {
  const int after = layout.pp - stage - 1;
  const Count warm_up = layout.chunks == 1 ? after : 2 * after + (layout.chunks - 1) * layout.pp;
  return static_cast<double>(std::min<Count>(warm_up + 1, micro_batches(job, layout) * layout.chunks));
}

/// A rank of a stage: what it keeps for each weight, and how many of its chunks are in flight.
struct MemoryRule {
  std::function<double(const Layout&)> bytes_per_weight = [](const Layout& layout) { return 4 + 12.0 / layout.dp; };
  std::function<double(const PlannedJob&, const Layout&, int stage)> chunks = in_flight;
  bool is_divided = true;  ///< weights over tensor parallelism
};

inline double memory(const PlannedJob& job, const Layout& layout, const MemoryRule& rule = {}) {
  const BlockProfile& row = profile_of(job, layout);
  const auto of_chunk = static_cast<double>(job.layers / (layout.pp * layout.chunks));
  double most = 0;
  for (int stage = 0; stage < layout.pp; ++stage) {
    const double states =
        weights(job, layout, stage) * (rule.is_divided ? 1 : layout.tp) * rule.bytes_per_weight(layout);
    most = std::max(most, states + rule.chunks(job, layout, stage) * of_chunk * row.kept + row.once);
  }
  return most;
}

/// What the time of a step consists of.
struct StepParts {
  double stage = 0;     ///< blocks of one, of a micro-batch
  double head = 0;      ///< of a micro-batch
  double exchange = 0;  ///< over replicas
  double update = 0;
};

/// Replicas are t p ranks apart. Those of one group that share a node use a port each.
inline double exchange_speed(const PlannedJob& job, const Layout& layout) {
  const int in_node = std::clamp(job.node / (layout.tp * layout.pp), 1, layout.dp);
  return in_node == layout.dp ? job.node_bandwidth : std::min(job.node_bandwidth, in_node * job.port_bandwidth);
}

inline StepParts parts_of(const PlannedJob& job, const Layout& layout) {
  const BlockProfile& row = profile_of(job, layout);
  const double most = weights(job, layout, 0);
  StepParts parts;
  parts.stage = static_cast<double>(job.layers / layout.pp) * row.seconds;
  parts.head = row.head_seconds;
  parts.exchange = 4 * most * (layout.dp - 1) / layout.dp / exchange_speed(job, layout);
  parts.update = most * job.update_seconds;
  return parts;
}

inline double seconds(const PlannedJob& job, const Layout& layout) {
  const StepParts parts = parts_of(job, layout);
  return static_cast<double>(micro_batches(job, layout)) * (parts.stage + parts.head) +
         (layout.pp - 1) * parts.stage / layout.chunks + parts.exchange + parts.update;
}

/// All layouts that are possible.
inline std::vector<Layout> possible(const PlannedJob& job) {
  std::vector<Layout> all;
  for (const BlockProfile& row : job.profile) {
    for (int pp = 1; pp <= job.gpus / row.tp && pp <= job.layers; ++pp) {
      const int dp = job.gpus / (row.tp * pp);
      if (dp * row.tp * pp != job.gpus || job.sequences % (dp * row.batch) != 0) continue;
      for (int chunks = 1; chunks <= kMostChunks && chunks * pp <= job.layers; ++chunks) {
        if (job.layers % (pp * chunks) != 0) continue;
        const Layout layout{row.tp, pp, chunks, dp, row.batch, row.recomputed};
        if (chunks > 1 && (pp == 1 || micro_batches(job, layout) % pp != 0)) continue;
        all.push_back(layout);
      }
    }
  }
  return all;
}

/// The fastest of those that fit and are asked for, by the formulas; or by another measure of time.
inline std::optional<Layout> fastest(const PlannedJob& job, const std::function<bool(const Layout&)>& is_meant,
                                     const std::function<double(const PlannedJob&, const Layout&)>& measure = seconds) {
  std::optional<Layout> best;
  double least = HUGE_VAL;
  for (const Layout& layout : possible(job)) {
    if (!is_meant(layout) || memory(job, layout) > job.memory) continue;
    if (const double takes = measure(job, layout); takes < least) {
      best = layout;
      least = takes;
    }
  }
  return best;
}

inline bool same(const Layout& a, const Layout& b) {
  return a.tp == b.tp && a.pp == b.pp && a.chunks == b.chunks && a.dp == b.dp && a.batch == b.batch &&
         a.recomputed == b.recomputed;
}

}  // namespace shardlings::planning

// What a layout takes, by the formulas of puzzle 34: as its grader judges layouts that no table has, and as known
// mistakes would have it.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shardlings/planner.h"

namespace shardlings::planning {

inline const BlockProfile& profile_of(const PlannedJob& job, const Layout& layout) {
  const auto found = std::ranges::find_if(job.profile, [&](const BlockProfile& row) {
    return row.tp == layout.tp && row.batch == layout.batch && row.recomputed == layout.recomputed;
  });
  return *found;
}

inline Count micro_batches(const PlannedJob& job, const Layout& layout) {
  return job.sequences / (layout.dp * layout.batch);
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
  return in_node == layout.dp ? job.inside : std::min(job.inside, in_node * job.between);
}

inline StepParts parts_of(const PlannedJob& job, const Layout& layout) {
  const BlockProfile& row = profile_of(job, layout);
  const double most = weights(job, layout, 0);
  StepParts parts;
  parts.stage = static_cast<double>(job.layers / layout.pp) * row.seconds;
  parts.head = row.head_seconds;
  parts.exchange = 4 * most * (layout.dp - 1) / layout.dp / exchange_speed(job, layout);
  parts.update = most * job.update;
  return parts;
}

inline double seconds(const PlannedJob& job, const Layout& layout) {
  const StepParts parts = parts_of(job, layout);
  return static_cast<double>(micro_batches(job, layout)) * (parts.stage + parts.head) +
         (layout.pp - 1) * parts.stage / layout.chunks + parts.exchange + parts.update;
}

inline constexpr int kMostChunks = 4;

inline bool is_in_profile(const PlannedJob& job, const Layout& layout) {
  return std::ranges::any_of(job.profile, [&](const BlockProfile& row) {
    return row.tp == layout.tp && row.batch == layout.batch && row.recomputed == layout.recomputed;
  });
}

/// Which rule of the stub a layout breaks; empty if it is possible. The layout may hold any numbers, so nothing is
/// multiplied before it is known to be small.
inline std::string broken_rule(const PlannedJob& job, const Layout& of) {
  using std::to_string;
  if (!is_in_profile(job, of)) {
    return "tp = " + to_string(of.tp) + ", batch = " + to_string(of.batch) +
           ", recomputed = " + to_string(static_cast<int>(of.recomputed)) + ": the profile has no such row";
  }
  for (const int size : {of.pp, of.chunks, of.dp}) {
    if (size < 1 || size > job.gpus + job.layers) return to_string(size) + " as a size of the layout";
  }
  if (const std::int64_t ranks = std::int64_t{of.tp} * of.pp * of.dp; ranks != job.gpus) {
    return "tp = " + to_string(of.tp) + ", pp = " + to_string(of.pp) + ", dp = " + to_string(of.dp) + ", which are " +
           to_string(ranks) + " GPUs; there are " + to_string(job.gpus);
  }
  if (const std::int64_t chunks = std::int64_t{of.pp} * of.chunks; job.layers % chunks != 0) {
    return to_string(chunks) + " chunks, which do not divide " + to_string(job.layers) + " blocks";
  }
  if (of.chunks > kMostChunks) return to_string(of.chunks) + " chunks on each stage, of at most 4";
  if (job.sequences % (of.dp * of.batch) != 0) {
    return "dp = " + to_string(of.dp) + " and batch = " + to_string(of.batch) + ", which do not divide " +
           to_string(job.sequences) + " sequences";
  }
  if (const Count m = micro_batches(job, of); of.chunks > 1 && (of.pp == 1 || m % of.pp != 0)) {
    return to_string(of.chunks) + " chunks on each of " + to_string(of.pp) + " stages with " + to_string(m) +
           " micro-batches, which take turns by multiples of the stages";
  }
  return "";
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

/// The decision guide: one GPU if the model fits there, else the ranks of a node, else as few stages as it takes; and
/// of what is left the most convenient: nothing computed again, and the largest micro-batch.
inline std::optional<Layout> guided(const PlannedJob& job) {
  std::optional<Layout> found;
  const auto comes_first = [](const Layout& a, const Layout& b) {
    if (a.tp * a.pp != b.tp * b.pp) return a.tp * a.pp < b.tp * b.pp;
    if (a.tp != b.tp) return a.tp > b.tp;
    if (a.recomputed != b.recomputed) return a.recomputed < b.recomputed;
    return a.batch > b.batch;
  };
  for (const Layout& layout : possible(job)) {
    const bool is_guided =
        layout.chunks == 1 && (layout.tp * layout.pp == 1 || layout.tp == std::min(job.node, job.gpus));
    if (!is_guided || memory(job, layout) > job.memory) continue;
    if (!found || comes_first(layout, *found)) found = layout;
  }
  return found;
}

inline bool same(const Layout& a, const Layout& b) {
  return a.tp == b.tp && a.pp == b.pp && a.chunks == b.chunks && a.dp == b.dp && a.batch == b.batch &&
         a.recomputed == b.recomputed;
}

}  // namespace shardlings::planning

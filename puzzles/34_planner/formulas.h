// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// What a layout takes, by the formulas of puzzle 34: as its grader judges layouts that no table has.
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

inline int tables_on(const Layout& layout, int stage) {
  return (stage == 0 ? 1 : 0) + (stage == layout.pp - 1 ? 1 : 0);
}

inline double weights_with(const PlannedJob& job, const Layout& layout, int tables) {
  return (static_cast<double>(job.layers / layout.pp * job.block_weights) +
          tables * static_cast<double>(job.table_weights)) /
         layout.tp;
}

inline double weights(const PlannedJob& job, const Layout& layout, int stage) {
  return weights_with(job, layout, tables_on(layout, stage));
}

/// Chunks that run forward before the first one runs backward: of puzzles 20 and 21.
inline Count warm_up(const Layout& layout, int stage) {
  const int after = layout.pp - stage - 1;
  return layout.chunks == 1 ? after : 2 * after + (layout.chunks - 1) * layout.pp;
}

inline double most_in_flight(const PlannedJob& job, const Layout& layout, Count chunks) {
  return static_cast<double>(std::min(chunks, micro_batches(job, layout) * layout.chunks));
}

/// Chunks that have run forward and not yet backward, at most.
inline double in_flight(const PlannedJob& job, const Layout& layout, int stage) {
  return most_in_flight(job, layout, warm_up(layout, stage) + 1);
}

inline double blocks_of_chunk(const PlannedJob& job, const Layout& layout) {
  return static_cast<double>(job.layers / (layout.pp * layout.chunks));
}

using OfStage = std::function<double(const PlannedJob&, const Layout&, int stage)>;
using OfJob = std::function<double(const PlannedJob&, const Layout&)>;

/// How somebody reckons with memory: the right way, or with one of the mistakes of mistakes.h.
struct MemoryRule {
  std::function<double(const Layout&)> bytes_per_weight = [](const Layout& layout) { return 4 + 12.0 / layout.dp; };
  OfStage weights_of = weights;  ///< of a rank
  OfStage chunks = in_flight;
  OfJob kept = blocks_of_chunk;  ///< of a chunk, in units of the profile's
  double once = 1;
};

inline double memory(const PlannedJob& job, const Layout& layout, const MemoryRule& rule = {}) {
  const BlockProfile& row = profile_of(job, layout);
  double most = 0;
  for (int stage = 0; stage < layout.pp; ++stage) {
    const double states = rule.weights_of(job, layout, stage) * rule.bytes_per_weight(layout);
    const double kept = rule.chunks(job, layout, stage) * rule.kept(job, layout) * row.kept;
    most = std::max(most, states + kept + rule.once * row.once);
  }
  return most;
}

/// What the time of a step consists of.
struct StepParts {
  double blocks = 0;  ///< of a stage, for all micro-batches
  double head = 0;    ///< for all micro-batches
  double bubble = 0;
  double exchange = 0;  ///< over replicas
  double update = 0;

  double sum() const { return blocks + head + bubble + exchange + update; }
};

/// Replicas that share a node, of those with the same weights: they are t p ranks apart.
inline int replicas_in_node(const PlannedJob& job, const Layout& layout) {
  return std::clamp(job.node / (layout.tp * layout.pp), 1, layout.dp);
}

/// Bytes a second of replicas of which so many share a node: each has a port.
inline double speed_of(const PlannedJob& job, const Layout& layout, double in_node) {
  return in_node >= layout.dp ? job.node_bandwidth : std::min(job.node_bandwidth, in_node * job.port_bandwidth);
}

inline double exchange_speed(const PlannedJob& job, const Layout& layout) {
  return speed_of(job, layout, replicas_in_node(job, layout));
}

/// A rank has so many weights.
inline StepParts parts_with(const PlannedJob& job, const Layout& layout, double weights) {
  const BlockProfile& row = profile_of(job, layout);
  const double stage = static_cast<double>(job.layers / layout.pp) * row.seconds;
  const auto m = static_cast<double>(micro_batches(job, layout));
  StepParts parts;
  parts.blocks = m * stage;
  parts.head = m * row.head_seconds;
  parts.bubble = (layout.pp - 1) * stage / layout.chunks;
  parts.exchange = 4 * weights * (layout.dp - 1) / layout.dp / exchange_speed(job, layout);
  parts.update = weights * job.update_seconds;
  return parts;
}

inline StepParts parts_of(const PlannedJob& job, const Layout& layout) {
  return parts_with(job, layout, weights(job, layout, 0));
}

inline double seconds(const PlannedJob& job, const Layout& layout) {
  return parts_of(job, layout).sum();
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

// Which layouts of a job are possible, as the stub of puzzle 34 says it: harness and grader have it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "shardlings/planner.h"

namespace shardlings::planning {

inline Count micro_batches(const PlannedJob& job, const Layout& layout) {
  return job.sequences / (layout.dp * layout.batch);
}

inline constexpr int kMostChunks = 4;

inline bool is_in_profile(const PlannedJob& job, const Layout& layout) {
  return std::ranges::any_of(job.profile, [&](const BlockProfile& row) {
    return row.tp == layout.tp && row.batch == layout.batch && row.recomputed == layout.recomputed;
  });
}

inline std::string name_of(Recomputed recomputed) {
  switch (recomputed) {
    case Recomputed::nothing: return "nothing";
    case Recomputed::attention: return "attention";
    case Recomputed::blocks: return "blocks";
  }
  return std::to_string(static_cast<int>(recomputed));
}

/// Which rule of the stub a layout breaks; empty if it is possible. The layout may hold any numbers, so nothing is
/// multiplied before it is known to be small.
inline std::string broken_rule(const PlannedJob& job, const Layout& of) {
  using std::to_string;
  if (!is_in_profile(job, of)) {
    return "tp = " + to_string(of.tp) + ", batch = " + to_string(of.batch) +
           ", recomputed = " + name_of(of.recomputed) + ": the profile has no such row";
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
  if (of.chunks > 1 && of.pp == 1) {
    return to_string(of.chunks) + " chunks on one stage: only in a pipeline, with pp > 1, chunks take turns";
  }
  if (const Count m = micro_batches(job, of); of.chunks > 1 && m % of.pp != 0) {
    return to_string(of.chunks) + " chunks on each of " + to_string(of.pp) + " stages with " + to_string(m) +
           " micro-batches; where there are several chunks, the micro-batches have to be a multiple of the stages";
  }
  return "";
}

}  // namespace shardlings::planning

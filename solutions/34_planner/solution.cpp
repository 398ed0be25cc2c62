// Puzzle 34: planner.
//
// A model, a cluster, a batch, and what one block was measured to take: how is the step to be divided? The lesson is
// README.md beside this file; `./shardlings explain 34` shows it in the terminal.

#include <shardlings/planner.h>
#include <shardlings/puzzle.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace shardlings;

/// Structs and units: <shardlings/planner.h>. The step is puzzle 33's: 1F1B or interleaved pipelines, ZeRO-1, gradients
/// reduced and weights gathered when all micro-batches are done. With m = sequences / (d b) micro-batches, a layout is
/// possible if t p d is the number of GPUs, the profile has a row for t, b and recomputed, d b divides the sequences,
/// p v divides L, v is at most 4 and, where v > 1, p > 1 and m is a multiple of p. The embedding is on the first stage,
/// the head on the last one.
///
/// memory   bytes at the peak of the fullest rank, off by at most 3 % of a GPU's memory: 4 + 12/d for each of its
///          weights, what is kept of the chunks in flight, and `once`
/// seconds  of a step, within 3 %: micro-batches, bubble, exchange over replicas (2 bytes for each gradient, and for
///          each weight), update. Replicas lie t p ranks apart. A node holds node/(t p) of them, rounded down, at least
///          1 and at most d; so many ports carry their bytes to the next node at once
/// plan     a possible layout. Its step fits into a GPU: by `memory`, it takes at most job.memory. And it takes at most
///          1.05 times as long as that of the best layout that was found
// >>> your code (about 54 lines)
const BlockProfile& profile_of(const PlannedJob& job, const Layout& layout) {
  for (const BlockProfile& row : job.profile) {
    if (row.tp == layout.tp && row.batch == layout.batch && row.recomputed == layout.recomputed) return row;
  }
  return job.profile.front();
}

Count micro_batches(const PlannedJob& job, const Layout& layout) {
  return job.sequences / (layout.dp * layout.batch);
}

double weights_of(const PlannedJob& job, const Layout& layout, bool has_embedding, bool has_head) {
  const auto blocks = static_cast<double>(job.layers / layout.pp * job.block_weights);
  return (blocks + static_cast<double>((has_embedding + has_head) * job.table_weights)) / layout.tp;
}

double memory(const PlannedJob& job, const Layout& layout) {
  const BlockProfile& row = profile_of(job, layout);
  const int p = layout.pp, v = layout.chunks;
  const auto of_chunk = static_cast<double>(job.layers / (p * v));
  double most = 0;
  for (int r = 0; r < p; ++r) {
    const double states = weights_of(job, layout, r == 0, r == p - 1) * (4 + 12.0 / layout.dp);
    const Count warm_up = v == 1 ? p - r - 1 : 2 * (p - r - 1) + (v - 1) * p;
    const auto in_flight = static_cast<double>(std::min(warm_up + 1, v * micro_batches(job, layout)));
    most = std::max(most, states + in_flight * of_chunk * row.kept + row.once);
  }
  return most;
}

double seconds(const PlannedJob& job, const Layout& layout) {
  const BlockProfile& row = profile_of(job, layout);
  const int p = layout.pp, d = layout.dp;
  const double stage = static_cast<double>(job.layers / p) * row.seconds;
  const double steady = static_cast<double>(micro_batches(job, layout)) * (stage + row.head_seconds);
  const double bubble = (p - 1) * stage / layout.chunks;
  // Replicas lie t p apart. Those that share a node have a port each.
  const int in_node = std::clamp(job.node / (layout.tp * p), 1, d);
  const double speed = in_node == d ? job.node_bandwidth : std::min(job.node_bandwidth, in_node * job.port_bandwidth);
  const double weights = weights_of(job, layout, true, p == 1);
  const double exchange = 2 * 2 * weights * (d - 1) / d / speed;
  return steady + bubble + exchange + weights * job.update_seconds;
}

Layout plan(const PlannedJob& job) {
  Layout best;
  double least = INFINITY;
  for (const BlockProfile& row : job.profile) {
    for (int p = 1; p <= job.gpus / row.tp; ++p) {
      const int d = job.gpus / (row.tp * p);
      if (d * row.tp * p != job.gpus || job.sequences % (d * row.batch) != 0) continue;
      for (int v = 1; v <= 4 && v * p <= job.layers; ++v) {
        const Layout layout{row.tp, p, v, d, row.batch, row.recomputed};
        if (job.layers % (p * v) != 0) continue;
        if (v > 1 && (p == 1 || micro_batches(job, layout) % p != 0)) continue;
        if (memory(job, layout) > job.memory || seconds(job, layout) >= least) continue;
        best = layout;
        least = seconds(job, layout);
      }
    }
  }
  return best;
}
// <<<

// What production does differently: there are more axes (context, experts), more ways to overlap, and what is measured
// is noisy. Planners such as Alpa and Galvatron profile blocks as well, and search by dynamic programmes.

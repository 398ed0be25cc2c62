// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// Searches that are too small, as learners of puzzle 34 write them: each leaves out layouts in one direction.
#pragma once

#include <string>
#include <vector>

#include "formulas.h"

namespace shardlings::planning {

/// What of a layout a search leaves out values of.
enum class Size { tensor, stages, chunks, replicas, batch, recomputed };

struct SmallSearch {
  Size size;
  const char* looks_at;  ///< in words, behind "the fastest layout "
  std::function<bool(const Layout&)> is_looked_at;
};

inline bool is_power_of_two(int number) {
  return (number & (number - 1)) == 0;
}

/// No layout fits that differs from this one in a larger micro-batch alone.
inline bool has_largest_batch(const PlannedJob& job, const Layout& of) {
  return std::ranges::none_of(job.profile, [&](const BlockProfile& row) {
    Layout larger = of;
    larger.batch = row.batch;
    return row.tp == of.tp && row.recomputed == of.recomputed && row.batch > of.batch &&
           broken_rule(job, larger).empty() && memory(job, larger) <= job.memory;
  });
}

inline std::vector<SmallSearch> small_searches(const PlannedJob& job) {
  int widest = 1;
  Count smallest = job.profile.front().batch;
  for (const BlockProfile& row : job.profile) {
    widest = std::max(widest, row.tp);
    smallest = std::min(smallest, row.batch);
  }
  using enum Recomputed;
  return {
      {Size::tensor, "without tensor parallelism", [](const Layout& of) { return of.tp == 1; }},
      {Size::tensor, "with the widest tensor parallelism", [=](const Layout& of) { return of.tp == widest; }},
      {Size::tensor, "with t of 1 or the widest", [=](const Layout& of) { return of.tp == 1 || of.tp == widest; }},
      {Size::stages, "without a pipeline", [](const Layout& of) { return of.pp == 1; }},
      {Size::stages, "with a pipeline", [](const Layout& of) { return of.pp > 1; }},
      {Size::stages, "with p a power of two", [](const Layout& of) { return is_power_of_two(of.pp); }},
      {Size::stages, "with p not above the GPUs of a node", [=](const Layout& of) { return of.pp <= job.node; }},
      {Size::chunks, "with one chunk on each stage", [](const Layout& of) { return of.chunks == 1; }},
      {Size::chunks, "with two chunks at most", [](const Layout& of) { return of.chunks <= 2; }},
      {Size::chunks, "with three chunks at most", [](const Layout& of) { return of.chunks <= 3; }},
      {Size::replicas, "with one replica", [](const Layout& of) { return of.dp == 1; }},
      {Size::replicas, "with several replicas", [](const Layout& of) { return of.dp > 1; }},
      {Size::replicas, "with d a power of two", [](const Layout& of) { return is_power_of_two(of.dp); }},
      {Size::batch, "with the smallest micro-batches", [=](const Layout& of) { return of.batch == smallest; }},
      {Size::batch, "with micro-batches of two sequences at most", [](const Layout& of) { return of.batch <= 2; }},
      {Size::batch, "with the largest micro-batch that fits",
       [&job](const Layout& of) { return has_largest_batch(job, of); }},
      {Size::recomputed, "that computes nothing again", [](const Layout& of) { return of.recomputed == nothing; }},
      {Size::recomputed, "that computes attention again", [](const Layout& of) { return of.recomputed == attention; }},
      {Size::recomputed, "that computes all blocks again", [](const Layout& of) { return of.recomputed == blocks; }},
      {Size::recomputed, "that computes all blocks again or nothing",
       [](const Layout& of) { return of.recomputed != attention; }},
      {Size::recomputed, "that does not compute all blocks again",
       [](const Layout& of) { return of.recomputed != blocks; }},
  };
}

/// The decision guide is at fault: it allows this layout, and of all with so many ranks for tensors and so many stages
/// the fastest is slower than `limit`. One GPU, says the guide, if the model fits there, else all of a node for tensor
/// parallelism, and as few stages as fit; it says nothing of micro-batches, chunks and recomputation.
inline bool is_misguided(const PlannedJob& job, const Layout& of, double limit) {
  const int node = std::min(job.node, job.gpus);
  const auto stages = [&](const Layout& layout) {  // 0: one GPU holds all
    if (layout.tp * layout.pp == 1) return 0;
    return layout.tp == node ? layout.pp : job.gpus + 1;
  };
  int fewest = job.gpus + 1;
  for (const Layout& layout : possible(job)) {
    if (memory(job, layout) <= job.memory) fewest = std::min(fewest, stages(layout));
  }
  if (fewest > job.gpus || stages(of) != fewest) return false;
  const auto alike = fastest(job, [&](const Layout& layout) { return layout.tp == of.tp && layout.pp == of.pp; });
  return alike && seconds(job, *alike) > limit;
}

/// All layouts that fit and are faster take more memory, and nearly all of it: a search that leaves some free finds
/// this one.
inline bool is_best_with_a_reserve(const PlannedJob& job, const Layout& of) {
  constexpr double kReserve = 0.1;
  const double free_from = std::max(memory(job, of), (1 - kReserve) * job.memory);
  return std::ranges::all_of(possible(job), [&](const Layout& layout) {
    const double bytes = memory(job, layout);
    return bytes > job.memory || bytes > free_from || seconds(job, layout) >= seconds(job, of);
  });
}

}  // namespace shardlings::planning

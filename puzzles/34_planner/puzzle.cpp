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
double memory(const PlannedJob& job, const Layout& layout) {
  not_implemented();
}

double seconds(const PlannedJob& job, const Layout& layout) {
  not_implemented();
}

Layout plan(const PlannedJob& job) {
  not_implemented();
}
// <<<

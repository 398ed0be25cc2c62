// Puzzle 42: scaling.
//
// From a table of runs: what more GPUs were worth, how much of them was used, which batch still pays, what training
// takes and costs; and which run to rent. The lesson is README.md beside this file; `./shardlings explain 42` shows it.

#include <shardlings/puzzle.h>
#include <shardlings/scaling.h>

#include <cmath>
#include <vector>

using namespace shardlings;

/// All numbers within 2 %. Structs and units: <shardlings/scaling.h>.
///
/// scaled          `run` beside `base`, whichever of gpus and sequences differ: speed_up is the quotient of their
///                 tokens a second, and efficiency is speed_up over the quotient of their GPUs: 1 is ideal
/// utilization     MFU counts the operations of products in forward and backward that the model needs, HFU those that
///                 the GPUs make. Forward of a token is 24 L h² + 4 L s h + 2 h V operations (blocks; attention without
///                 the causal mask; head), backward twice as many
/// critical_batch  in sequences: variance of one sequence's gradient (summed over all weights) over the square of the
///                 true gradient's norm
/// learning_rate   for SGD with batch `batch`, if `tuned` is the best one with batch `tuned_at`:
///                 proportional to 1/(1 + critical/B)
/// cost            with the run's batch B the wanted loss takes S_min (1 + critical/B) steps
/// choose          the index of the cheapest run that is done within job.days; one is. At most 5 % above the cheapest
// >>> your code (about 31 lines)
Scaling scaled(const MeasuredRun& base, const MeasuredRun& run) {
  const double tokens = static_cast<double>(run.sequences) / static_cast<double>(base.sequences);
  const double speed_up = tokens * base.seconds / run.seconds;
  return {speed_up, speed_up * base.gpus / run.gpus};
}

Utilization utilization(const TrainingJob& job, const MeasuredRun& run) {
  const auto layers = static_cast<double>(job.layers), h = static_cast<double>(job.hidden);
  const auto v = static_cast<double>(job.vocabulary), s = static_cast<double>(job.sequence);
  const double attention = 4 * layers * s * h, blocks = 24 * layers * h * h + attention;
  double made = 3 * (blocks + 2 * h * v);
  const double needed = made;
  if (job.recomputed == Recomputed::attention) made += attention;
  if (job.recomputed == Recomputed::blocks) made += blocks;
  const double tokens = static_cast<double>(run.sequences) * s / run.seconds;
  const double available = run.gpus * job.peak;
  return {needed * tokens / available, made * tokens / available};
}

double critical_batch(const GradientNorms& norms) {
  const auto small = static_cast<double>(norms.small_batch), large = static_cast<double>(norms.large_batch);
  // The square of a mean over B sequences is that of the true gradient, and variance / B.
  const double variance = (norms.small_square - norms.large_square) / (1 / small - 1 / large);
  const double square = (large * norms.large_square - small * norms.small_square) / (large - small);
  return variance / square;
}

double learning_rate(double tuned, Count tuned_at, double critical, Count batch) {
  const auto rest = [&](Count b) { return 1 + critical / static_cast<double>(b); };
  return tuned * rest(tuned_at) / rest(batch);
}

TrainingCost cost(const TrainingJob& job, double critical, const MeasuredRun& run) {
  const double steps = job.least_steps * (1 + critical / static_cast<double>(run.sequences));
  const double hours = steps * run.seconds / 3600;
  return {steps, hours / 24, hours * run.gpus, hours * run.gpus * job.price};
}

int choose(const TrainingJob& job, double critical, const std::vector<MeasuredRun>& runs) {
  int best = -1;
  double least = INFINITY;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const TrainingCost of = cost(job, critical, runs[i]);
    if (of.days > job.days || of.dollars >= least) continue;
    best = static_cast<int>(i);
    least = of.dollars;
  }
  return best;
}
// <<<

// What production does differently: nobody knows S_min and the critical batch before training. They are estimated from
// smaller models and from the norms while training runs; the batch grows as the loss falls.

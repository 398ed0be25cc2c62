// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// The accounts of puzzle 42 as they should be, for its grader and its questions.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "shardlings/scaling.h"

namespace shardlings::accounts {

inline double tokens_per_gpu(const MeasuredRun& run) {
  return static_cast<double>(run.sequences) / run.seconds / run.gpus;
}

inline Scaling scaled(const MeasuredRun& base, const MeasuredRun& run) {
  const double efficiency = tokens_per_gpu(run) / tokens_per_gpu(base);
  return {efficiency * run.gpus / base.gpus, efficiency};
}

/// Of products, for a token: Narayanan et al. 2021, the appendix on floating-point operations, with its recomputation
/// left apart; Korthikanti et al. 2022, appendix A.
struct Operations {
  double blocks = 0;     ///< forward, without the inner attention
  double attention = 0;  ///< forward: the inner attention, each position with all others
  double head = 0;       ///< forward
  double again = 0;      ///< what backward computes again
  double forward() const { return blocks + attention + head; }
};

inline Operations operations(const TrainingJob& job) {
  const auto layers = static_cast<double>(job.layers), h = static_cast<double>(job.hidden);
  Operations of;
  of.blocks = 24 * layers * h * h;
  of.attention = 4 * layers * static_cast<double>(job.sequence) * h;
  of.head = 2 * h * static_cast<double>(job.vocabulary);
  if (job.recomputed == Recomputed::attention) of.again = of.attention;
  if (job.recomputed == Recomputed::blocks) of.again = of.blocks + of.attention;
  return of;
}

/// Of the peak of all GPUs, with so many operations for each token.
inline double share_of_peak(const TrainingJob& job, const MeasuredRun& run, double operations) {
  return operations * static_cast<double>(job.sequence) * tokens_per_gpu(run) / job.peak;
}

/// McCandlish et al. 2018, appendix A.1: of a mean over B, the square of the norm is that of the true gradient, and
/// variance / B.
inline double variance(const GradientNorms& norms) {
  return (norms.small_square - norms.large_square) /
         (1 / static_cast<double>(norms.small_batch) - 1 / static_cast<double>(norms.large_batch));
}
inline double true_square(const GradientNorms& norms) {
  return norms.large_square - variance(norms) / static_cast<double>(norms.large_batch);
}
inline double critical_batch(const GradientNorms& norms) {
  return variance(norms) / true_square(norms);
}

/// The same, section 2.2: of a step with the best rate for each batch.
inline double rate(double tuned, Count tuned_at, double critical, const MeasuredRun& run) {
  return tuned * (1 + critical / static_cast<double>(tuned_at)) / (1 + critical / static_cast<double>(run.sequences));
}

/// The same, section 2.3: steps to a given loss.
inline TrainingCost cost(const TrainingJob& job, double critical, const MeasuredRun& run) {
  TrainingCost of;
  of.steps = job.least_steps * (1 + critical / static_cast<double>(run.sequences));
  of.days = of.steps * run.seconds / 86'400;
  of.gpu_hours = of.days * 24 * run.gpus;
  of.dollars = of.gpu_hours * job.price;
  return of;
}

/// Of the runs that are done in time.
inline double least_dollars(const TrainingJob& job, double critical, const std::vector<MeasuredRun>& runs) {
  double least = HUGE_VAL;
  for (const MeasuredRun& run : runs) {
    const TrainingCost of = cost(job, critical, run);
    if (of.days <= job.days) least = std::min(least, of.dollars);
  }
  return least;
}

}  // namespace shardlings::accounts

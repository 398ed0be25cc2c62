// What the cases of puzzle 42 say: the job, its runs, and the norms of its gradient, for harness and grader alike.
// `Case` is cases::Case, which no header of a puzzle includes.
#pragma once

#include <stdexcept>
#include <vector>

#include "shardlings/scaling.h"

namespace shardlings {

/// The best learning rate of the table's first run.
inline constexpr double kTunedRate = 0.02;

template <class Case>
std::vector<MeasuredRun> runs_of(const Case& kase) {
  const std::vector<double>&gpus = kase.list("gpus"), &sequences = kase.list("sequences"),
        &seconds = kase.list("seconds");
  if (gpus.size() != sequences.size() || gpus.size() != seconds.size() || gpus.empty()) {
    throw std::runtime_error("puzzle.toml: the columns of the case '" + kase.name + "' have not one length");
  }
  std::vector<MeasuredRun> runs;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    runs.push_back({static_cast<int>(gpus[i]), static_cast<Count>(sequences[i]), seconds[i]});
  }
  return runs;
}

template <class Case>
TrainingJob job_of(const Case& kase) {
  TrainingJob job;
  job.layers = kase.integer("layers");
  job.hidden = kase.integer("hidden");
  job.vocabulary = kase.integer("vocabulary");
  job.sequence = kase.integer("sequence");
  job.recomputed = static_cast<Recomputed>(kase.integer("recomputed"));
  job.peak = kase.number("peak");
  job.least_steps = kase.number("least_steps");
  job.price = kase.number("price");
  job.days = kase.number("days");
  return job;
}

template <class Case>
GradientNorms norms_of(const Case& kase) {
  return {kase.integer("small_batch"), kase.integer("large_batch"), kase.number("small_square"),
          kase.number("large_square")};
}

}  // namespace shardlings

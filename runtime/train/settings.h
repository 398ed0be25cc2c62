/// \file
/// What the verb `train` of the command is asked for, as data that crosses to the process that trains.
#pragma once

#include <string>

#include "case/case.h"
#include "case/manifest.h"
#include "shardlings/export.h"

namespace shardlings::train {

/// How the work is divided: t x p x d ranks, v chunks of layers on each.
struct Layout {
  int t = 1;               ///< tensor-parallel ranks of each layer
  int p = 1;               ///< ranks of a pipeline
  int d = 1;               ///< replicas, which divide the optimizer's states among them (ZeRO-1)
  bool recompute = false;  ///< backward computes again what forward could have kept
  int v = 1;               ///< chunks of layers on each rank of a pipeline: stages are p v; more than one needs p > 1
  int ranks() const { return t * p * d; }
};

/// More than that no training has: each is a thread.
inline constexpr Count kMostRanks = 1 << 14;

/// More than that no training makes.
inline constexpr int kMostSteps = 1 << 20;

struct Settings {
  /// The model; ranks, b, m and number of batches (d); steps; seed; cluster. What puzzles add to a case (Case::numbers)
  /// is ignored.
  cases::Case kase;
  Layout layout;
  cases::TrainForm form;   ///< of the step that trains
  std::string text;        ///< path
  std::string checkpoint;  ///< path; empty: nothing is read or written
  bool fresh = false;      ///< does not read it
  int save_every = 50;     ///< steps
};

/// Sequences of a step, over all replicas and micro-batches.
inline Count sequences_of_step(const Settings& settings) {
  return settings.kase.batch * settings.kase.micro_batches * settings.layout.d;
}

std::string to_json(const Settings& settings);
/// Throws std::runtime_error.
Settings settings_from_json(const std::string& text);

}  // namespace shardlings::train

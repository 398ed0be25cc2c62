/// \file
/// What `train` is asked for, and the training that is made of it.
#pragma once

#include <cstdint>
#include <string>

#include "case/manifest.h"
#include "cli/context.h"
#include "cli/verbs/backend_option.h"
#include "train/settings.h"

namespace shardlings::cli::verbs {

/// The options of the verb.
struct TrainOptions {
  int tp = 1, pp = 1, dp = 1;  ///< ranks of each axis
  int vp = 1;                  ///< chunks of layers on each rank of a pipeline
  int zero = 1;                ///< stage of ZeRO
  bool recompute = false;
  bool mine = false;   ///< with the learner's step
  std::string puzzle;  ///< the learner's step of this one; empty: of puzzle 33
  int layers = 4;      ///< blocks
  Count hidden = 64;
  int heads = 4;
  Count sequence = 64;
  Count batch = 16;       ///< sequences of a step, over all replicas
  int micro_batches = 0;  ///< of each replica; 0: twice the ranks of a pipeline, as far as the batch can be cut so
  int steps = 300;
  float lr = 3e-3F;
  float clip = 1.0F;
  std::uint64_t seed = 1;
  std::string text;        ///< path; empty: the one that comes with the project
  std::string checkpoint;  ///< path; empty: below the build folder
  bool fresh = false;      ///< begin anew where there is one
  int save_every = 50;     ///< steps
  std::string cluster = "dgx_h100";
  BackendOptions backend;
  bool json = false;
};

/// Whose step trains.
struct ChosenStep {
  std::string puzzle = "33_three_d_parallel";  ///< id
  std::string name = "33";                     ///< as messages name it
  cases::TrainForm form;
  bool on_grid() const { return form.step == cases::TrainStep::grid; }
};

/// That of puzzle 33, or of the puzzle that is named. Throws UsageError if its function is no step that trains by
/// itself.
ChosenStep train_step_of(const Context& context, const TrainOptions& options);

/// Throws UsageError for what cannot be trained so.
train::Settings train_settings(const Context& context, const TrainOptions& options, const ChosenStep& step);

}  // namespace shardlings::cli::verbs

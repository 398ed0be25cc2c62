/// \file
/// Trains a character-level GPT with the step of puzzle 33, or with that of an earlier puzzle, no matter whose it is.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "front/misuse/black_box.h"
#include "front/trace/memory_use.h"
#include "shardlings/puzzle.h"
#include "train/settings.h"
#include "world/process_world.h"

namespace shardlings::train {

/// The function that puzzle 33 asks for. Those of other puzzles are called through one of its type (main_*.cpp).
using StepFunction = void (*)(Rank& rank, const Model& model, const GridShare& share, const Batch& batch, float limit,
                              View loss);

/// A step that was made.
struct StepReport {
  int step = 0;  ///< from 1, over all resumptions
  double loss = 0;
  Nanos virtual_time;  ///< what the step took on the cluster
};

struct Trained {
  int first_step = 0;          ///< steps that were there before: of a checkpoint
  std::vector<double> losses;  ///< of the steps made now
  Bytes peak;                  ///< of the fullest rank
  front::KindBytes peak_by_kind{};
  std::string failure;  ///< why a rank could not go on; empty if all did
  std::string fault;    ///< what the machine lacked, so that training had to end; empty: nothing
};

/// What looks at the ranks from outside, so that a crash can be explained.
struct RankWatch {
  front::BlackBox* box = nullptr;
  std::function<void(int rank)> begins = [](int) {}, ends = [](int) {};  ///< called by the rank's own thread
};

/// Floating-point operations that a step needs, whatever the layout: forward, and twice as many backward.
double flops_of_step(const Settings& settings);

/// Trains from the checkpoint's step, if there is one, to the case's. After each step `after_step` says whether to go
/// on; if not, or at the end, the checkpoint is written. Throws std::runtime_error for text and checkpoint.
/// With `progress` the ranks are spread over its processes, which all call this: only process 0 reads and writes files,
/// is asked after each step, and has the result.
Trained train(const Settings& settings, StepFunction step, const std::function<bool(const StepReport&)>& after_step,
              const RankWatch& watch = {}, back::Progress* progress = nullptr);

/// The main function of a program that trains: its arguments are a file with settings; where a supervisor reads its
/// last words, the descriptor or the path of their file (submission/wire/memory_file.h); a mark (base/token.h); and
/// "mpi" if mpirun has started several processes, which train together. Writes a line
/// for each step and one at the end, of the mark and JSON: what has no mark the learner's code has printed. A line
/// "stop" on its input saves and ends.
SHARDLINGS_API int train_main(int argc, char** argv, StepFunction step);

}  // namespace shardlings::train

// Puzzle 41: bugs that shipped.
//
// Six programs with faults that were published, and a test that would have found all of them.
// The lesson is README.md beside this file; `./shardlings explain 41` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <vector>

using namespace shardlings;

/// Goes through a data set sample by sample, and begins again at its end.
struct Loader {
  Count data = 0;  ///< samples of the data set
  Count at = 0;    ///< the next sample
  /// The first one of the next n samples.
  Count next(Count n) {
    const Count first = at;
    at = (at + n) % data;
    return first;
  }
};

struct Machine;
/// What a program trains with on this rank, in step after step.
struct Training {
  int micro_batches = 1;     ///< m: of a step
  float share = 1;           ///< 1/m
  Count samples = 0;         ///< of a micro-batch, of all replicas together
  std::vector<Count> first;  ///< of each micro-batch: its first sample. Filled when a step begins, but for program 6
  Loader loader;             ///< for program 6; all others are given their samples
  Group dp;                  ///< the replicas of this rank's weights
  View grads;                ///< zeros when a step begins
  bool sync = false;         ///< for program 5: whether backward reduces; false when the run begins
  Machine* machine = nullptr;
};
/// Micro-batch i, through this rank's layer, or its stage of a pipeline. Keeps t.sync as it is now, for its backward.
void forward(Training& t, int i, Location at = Location::current());
/// Adds `factor` times the gradient of the micro-batch's mean loss to t.grads. Then, if t.sync was true in forward(t,
/// i), all-reduces t.grads over the replicas, to their mean.
void backward(Training& t, int i, float factor = 1, Location at = Location::current());
/// The optimizer's step with t.grads.
void update(Training& t, Location at = Location::current());

/// What a log says of one step of a run. All runs of a log begin with the same weights.
struct LogLine {
  int run = 0, step = 0;          ///< both from 0
  float loss = 0;                 ///< mean over the samples
  float norm = 0;                 ///< of the gradient that the optimizer was given
  std::vector<Count> samples{};   ///< those that were read, in their order
  std::vector<float> replicas{};  ///< of each replica: the norm of its weights after the step
  Count sent = 0;                 ///< bytes, by rank 0
};

/// Programs 1 to 6, with the name of the fault's project in the lesson. Each is a step of training, but for 3, which is
/// the product of a layer whose rows are inputs: x is (b, inputs of this rank), part.weight (outputs, inputs of this
/// rank), part.bias (outputs), and the result (b, outputs) is the same on all ranks of tp.
///
/// Step        mends each program: gradients and weights of one device that takes the step's samples at once
/// Wire        a step reduces gradients once, or the layer's output once; a pipeline sends each activation once
/// suspicious  whether something is wrong in the program that has left this log, of a data set of `data` samples. It is
///             asked of each program as it was published, of 5 and 6 with a smaller fault as well, and of two right
///             ones for each; it never sees the program
// >>> your code (about 32 lines)
void scaled_step(Training& t) {  // 1
  for (int i = 0; i < t.micro_batches; ++i) {
    forward(t, i);
    backward(t, i);
    scale(t.grads, t.share);
  }
  t.dp.all_reduce(t.grads, ReduceOp::mean);
  update(t);
}

void pipelined_step(Training& t) {  // 2
  for (int i = 0; i < t.micro_batches; ++i) forward(t, i);
  for (int i = 0; i < t.micro_batches; ++i) backward(t, i);
  update(t);
}

Tensor row_parallel(ConstView x, const Linear& part, Group& tp) {  // 3
  Tensor y = matmul(x, part.weight, nt);
  add_bias(y, part.bias);
  tp.all_reduce(y, ReduceOp::sum);
  return y;
}

void cleared_step(Training& t) {  // 4
  for (int i = 0; i < t.micro_batches; ++i) {
    fill(t.grads, 0);
    forward(t, i);
    backward(t, i, t.share);
  }
  t.dp.all_reduce(t.grads, ReduceOp::mean);
  update(t);
}

void synchronized_step(Training& t) {  // 5
  for (int i = 0; i < t.micro_batches; ++i) {
    forward(t, i);
    t.sync = i + 1 == t.micro_batches;
    backward(t, i, t.share);
  }
  update(t);
}

void loaded_step(Training& t) {  // 6
  Loader loader = t.loader;
  for (int i = 0; i < t.micro_batches; ++i) {
    t.first[i] = loader.next(t.samples);
    forward(t, i);
    backward(t, i, t.share);
  }
  t.dp.all_reduce(t.grads, ReduceOp::mean);
  update(t);
}

bool suspicious(const std::vector<LogLine>& log, Count data) {
  not_implemented();
}
// <<<

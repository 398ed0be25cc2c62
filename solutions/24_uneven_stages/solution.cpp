// Puzzle 24: uneven stages.
//
// Layers of unequal cost, the embedding and the head among them, on the stages of a pipeline: so that the slowest stage
// is as fast as it can be, and every stage fits into its memory. The lesson is README.md beside this file;
// `./shardlings explain 24` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <limits>
#include <vector>

using namespace shardlings;

/// Written already: this rank's stage, with its micro-batches and its messages.
struct Flow;
/// Receives the input of micro-batch i, computes the stage, and starts to send its output on.
void forward(Flow& flow, int i, Location at = Location::current());
/// Receives the gradient of micro-batch i, or computes the loss, computes the stage backward, and starts to send the
/// gradient of its input on. `at` is the line that calls, for reports.
void backward(Flow& flow, int i, Location at = Location::current());

/// Which layers each of the p stages has: stage r the layers [begin, end) of entry r, for m micro-batches of
/// tokens = (s, b). With L = model.num_layers() layers, L >= p; every rank calls it, and must get the same.
///
/// Stages  every layer on one stage, in the order of the model, and at least one layer on each stage
/// Fits    on stage r the weights and gradients of its layers, and what min(p - r, m) micro-batches in flight keep of
///         them, are at most `memory` bytes together. A placement that fits exists
/// Work    the operations (flops) of forward of the slowest stage: as few as any placement that fits has
///
/// Numbers have 4 bytes: layer l has model.size(l) weights. Of model.cost(l, s, b), `flops` are the operations of
/// forward, and backward has about twice as many. A micro-batch in flight keeps `input` and `saved` bytes of the layer.
///
/// And train_step: runs this rank's stage on micro-batches 0 to m-1.
///
/// Result  gradients and loss as if one device had trained on the whole batch
/// Flight  at most min(p - r, m) micro-batches have run forward on rank r and not yet backward
/// Time    as long as 1F1B (puzzle 20) takes with these stages
// >>> your code (about 38 lines)
std::vector<Range> place_layers(const Model& model, Shape tokens, int p, int m, Count memory) {
  const int layers = model.num_layers();
  constexpr Count kNone = std::numeric_limits<Count>::max();
  // slowest[r][end]: of the best placement of layers 0 to end-1 on the first r stages; cut[r][end]: where its last one
  // begins. What comes before a cut and what comes after it do not depend on each other.
  std::vector<std::vector<Count>> slowest(p + 1, std::vector<Count>(layers + 1, kNone)), cut = slowest;
  slowest[0][0] = 0;
  for (int r = 0; r < p; ++r) {
    for (int end = 1; end <= layers; ++end) {
      Count work = 0, needed = 0;
      for (int begin = end - 1; begin >= 0; --begin) {  // the stage grows towards the first layer
        const LayerCost cost = model.cost(begin, tokens[0], tokens[1]);
        const Count in_flight = std::min(p - r, m);
        needed += 2 * 4 * model.size(begin) + in_flight * (cost.input + cost.saved);
        if (needed > memory) break;  // more layers need more
        work += cost.flops;
        const Count both = std::max(slowest[r][begin], work);
        if (both >= slowest[r + 1][end]) continue;
        slowest[r + 1][end] = both;
        cut[r + 1][end] = begin;
      }
    }
  }
  std::vector<Range> stages(p);
  Count end = layers;
  for (int r = p - 1; r >= 0; --r) {
    stages[r] = {cut[r + 1][end], end};
    end = stages[r].begin;
  }
  return stages;
}

void train_step(int p, int r, int m, Flow& flow) {
  const int warm_up = std::min(p - r - 1, m);
  for (int i = 0; i < warm_up; ++i) forward(flow, i);
  for (int i = 0; i < m - warm_up; ++i) {
    forward(flow, warm_up + i);
    backward(flow, i);
  }
  for (int i = m - warm_up; i < m; ++i) backward(flow, i);
}
// <<<

// What it costs: the table has p L entries, and each looks at up to L places for its last cut: p L² steps, once per
// training. The step takes the time of all stages once, and of the slowest one for nearly every further micro-batch, so
// what the slowest stage gains is gained m times.
//
// What production does differently: Megatron-LM lets the user write the layout down, embedding and loss as entries of
// their own (--pipeline-model-parallel-layout), or counts both as layers; DeepSpeed balances parameters, or the layers
// of one type (partition_method). Llama 3 took one block away from the first and one from the last stage.

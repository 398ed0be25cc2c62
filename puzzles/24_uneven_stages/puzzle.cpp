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
  not_implemented();
}

void train_step(int p, int r, int m, Flow& flow) {
  not_implemented();
}
// <<<

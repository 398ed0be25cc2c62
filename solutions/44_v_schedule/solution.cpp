// Puzzle 44: the V schedule.
//
// The halves of backward of puzzle 23, in a pipeline that is folded in the middle: each rank has a stage on the way
// there and one on the way back. The lesson is README.md beside this file; `./shardlings explain 44` shows it in the
// terminal.

#include <shardlings/puzzle.h>

using namespace shardlings;

/// Micro-batches on their way through the two chunks of this rank; what moves them is given (it is in harness.cpp).
struct Flow;
/// \name The passes of chunk c for micro-batch i: each waits for what it needs, and starts to send its result on
/// @{
void flow_forward(Flow& flow, int c, int i, Location at);
void flow_backward_input(Flow& flow, int c, int i, Location at);
void flow_backward_weights(Flow& flow, int c, int i, Location at);
/// @}

/// Gradients and loss of one step on m micro-batches. The model is cut into 2 p stages of one length, two for each of
/// the p ranks: the first chunk of rank r, c = 0, is stage r, and its second one, c = 1, is stage 2 p - 1 - r. So
/// activations go down to rank p - 1 and come up again, and the last stage is on rank 0. Which pass comes next?
///
/// forward(c)           F: takes the next micro-batch through chunk c, and sends its output on
/// backward_input(c)    B: waits for the gradient of the output of the next one, and sends that of its input back
/// backward_weights(c)  W: adds the gradients of the chunk's weights, of the next one
/// forwards[c], inputs[c], weights[c]   how many micro-batches have had F, B and W of chunk c on this rank
///
/// A pass that all m have had does nothing, so you may call it once too often.
///
/// Result  gradients and loss as if one device had trained on the whole batch
/// Limit   at no time more than 2 p chunks of micro-batches that have had their F and not yet their W, both chunks
///         counted: as much as rank 0 of 1F1B, where stages are twice as long, holds with p of them
/// Time    if m >= 2 p - 1: no more than half of the bubble that ZB-H1 (puzzle 23) leaves with as much memory
///         if m < 2 p - 1: no longer than ZB-H1 takes
void train_step(int p, int r, int m, Flow& flow) {
  int forwards[2] = {0, 0}, inputs[2] = {0, 0}, weights[2] = {0, 0};

  // `at` is the line that calls, for reports.
  [[maybe_unused]] const auto forward = [&](int c, Location at = Location::current()) {
    if (forwards[c] < m) flow_forward(flow, c, forwards[c]++, at);
  };
  [[maybe_unused]] const auto backward_input = [&](int c, Location at = Location::current()) {
    if (inputs[c] < m) flow_backward_input(flow, c, inputs[c]++, at);
  };
  [[maybe_unused]] const auto backward_weights = [&](int c, Location at = Location::current()) {
    if (weights[c] < m) flow_backward_weights(flow, c, weights[c]++, at);
  };

  // >>> your code (about 26 lines)
  // Micro-batch 0 is back from below after 2 (p - r) - 1 turns; meanwhile there is nothing else to do.
  for (int i = 0; i < 2 * (p - r) - 1; ++i) forward(0);
  // It goes up to rank 0 and comes back as a gradient: forwards of both chunks in turn until the memory is full.
  for (int i = 0; i < r; ++i) {
    forward(1);
    forward(0);
  }
  // So far rank p - 1 has nothing to send back into first chunks: those wait, and the second ones have all passes.
  for (int i = 0; i < p - r; ++i) {
    forward(1);
    backward_input(1);
    backward_weights(1);
  }
  while (forwards[1] < m) {
    for (int c = 0; c < 2; ++c) {
      forward(c);
      backward_input(c);
      backward_weights(c);
    }
  }
  // Nothing more needs room. First what others wait for, then what fits between, then what is left.
  for (int i = 0; i < r; ++i) {
    backward_input(0);
    backward_input(1);
  }
  for (int i = 0; i < p - r; ++i) {
    backward_input(0);
    backward_weights(0);
  }
  for (int i = 0; i < m; ++i) {
    backward_weights(1);
    backward_weights(0);
  }
  // <<<
}

// What it costs: as much memory as 1F1B has on its first rank, on every rank, and twice as many messages. With F = B =
// W no rank waits between its first pass and its last one, and the step ends half as long after one rank's work as
// ZB-H1.
//
// What production does differently: PyTorch has this order as ScheduleZBVZeroBubble, and as ScheduleDualPipeV one that
// pairs a forward with a backward, so that the all-to-alls of experts hide behind the other one's products.
// sail-sg/zero-bubble makes the order from measured times, since F, B and W are never quite equal.

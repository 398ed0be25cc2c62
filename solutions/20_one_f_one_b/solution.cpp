// Puzzle 20: 1F1B, one forward, one backward.
//
// The pipeline of puzzle 19 in the same time, with few micro-batches in flight on each rank instead of all m.
// The lesson is README.md beside this file; `./shardlings explain 20` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <utility>
#include <vector>

using namespace shardlings;

/// Gradients and loss of one step on m micro-batches, in a pipeline of p stages; this rank has stage r of 0 to p-1.
///
/// stage, batch, loss      as in puzzle 19
/// forward(i)              takes the input of micro-batch i from `before`, computes, returns what `after` waits for
/// backward(i)             takes the gradient of micro-batch i from `after`, computes, returns what `before` waits for
/// before, after           ranks; kNobody at the ends, where sending does nothing
///
/// Result  gradients and loss as if one device had trained on the whole batch
/// Flight  no more micro-batches have run forward on this rank and not yet backward than the time below needs
/// Time    the step takes as long as in puzzle 19
/// Wire    for each micro-batch and boundary: its activation once, its gradient once, each as one message
/// Work    each layer once forward and once backward for each micro-batch
/// Memory  at most what is in flight, on the device, and in each direction one message that was sent and not waited for
///
/// Calls that you need: forward and backward from below; world.send_async(tensor, to), which returns a Work at once.
/// `world.send_async(t, to).keep(std::move(t))` holds t until the Work's wait(). A Work that is assigned to must have
/// been waited for before; waiting for a new one, `Work()`, does nothing.
void train_step(Rank& rank, const Model& model, const Stage& stage, const Batch& batch, View loss) {
  Group& world = rank.world();
  [[maybe_unused]] const int p = rank.size(), r = rank.id(), m = batch.num_micro();
  const int before = stage.is_first() ? kNobody : r - 1, after = stage.is_last() ? kNobody : r + 1;
  std::vector<Tensor> x(m), logits(m);
  std::vector<StageSaved> saved(m);

  // `at` is the line that calls, for reports.
  const auto forward = [&](int i, Location at = Location::current()) {
    if (stage.is_first()) {
      x[i] = clone(batch.micro(i).inputs, at);
    } else {
      x[i] = rank.empty(stage.input_shape(), Kind::activation, DType::f32, at);
      world.recv(x[i], before, at);
    }
    Tensor y = stage.forward(x[i], &saved[i], at);
    if (stage.is_last()) logits[i] = std::move(y);
    return y;
  };
  const auto backward = [&](int i, Location at = Location::current()) {
    Tensor grad;
    if (stage.is_last()) {
      grad = model.loss(std::move(logits[i]), batch.micro(i).targets, batch.tokens_of_step(), loss, at);
    } else {
      grad = rank.empty(stage.output_shape(), Kind::activation, DType::f32, at);
      world.recv(grad, after, at);
    }
    grad = stage.backward(x[i], std::move(saved[i]), std::move(grad), at);
    x[i] = {};
    return grad;
  };

  // >>> your code (about 18 lines)
  Work down, up;  // the message on its way in each direction: one, or outputs would pile up
  const auto send_down = [&](Tensor y) {
    down.wait();
    down = world.send_async(y, after).keep(std::move(y));
  };
  const auto send_up = [&](Tensor grad) {
    up.wait();
    up = world.send_async(grad, before).keep(std::move(grad));
  };
  // As many as there are stages after mine: then the first gradient is there just when the next forward is done.
  const int warm_up = std::min(p - r - 1, m);
  for (int i = 0; i < warm_up; ++i) send_down(forward(i));
  for (int i = 0; i < m - warm_up; ++i) {
    send_down(forward(warm_up + i));
    send_up(backward(i));
  }
  for (int i = m - warm_up; i < m; ++i) send_up(backward(i));
  down.wait();
  up.wait();
  // <<<
}

// What it costs: time and bytes of GPipe, but min(p - r, m) micro-batches in flight instead of m. Memory no longer
// grows with m, so m can be as large as the bubble wants it. The first rank still holds p micro-batches of its L/p
// layers, which is the activations of a whole model for one micro-batch: 1F1B cannot get below that without
// recomputing; V-shaped schedules can (Qi et al. 2024).
//
// What production does differently: Megatron-LM sends the output and receives the gradient in one call
// (send_forward_recv_backward), since NCCL runs the messages of a communicator in order; PyTorch's Schedule1F1B batches
// the two. Both average gradients over data parallel replicas in the last backward only.

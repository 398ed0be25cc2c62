// diagnosis: deadlock
// Warm-up of r: the first rank waits for a gradient before it has sent enough.

// Puzzle 20: 1F1B, one forward, one backward.
//
// The pipeline of puzzle 19 in the same time, with p - r micro-batches in flight on rank r instead of all m.
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
/// Flight  at most min(p - r, m) micro-batches have gone forward on this rank and not yet backward
/// Time    (m + p - 1) (F + B), as in puzzle 19
/// Wire    for each micro-batch and boundary: its activation once, its gradient once
/// Memory  what is in flight, and in each direction one message that has been sent and not yet waited for
///
/// Calls that you need: forward and backward from below; world.send_async(tensor, to), which returns a Work at once.
/// `world.send_async(t, to).keep(std::move(t))` holds t until the Work's wait(). A Work that is assigned to must have
/// been waited for before; waiting for a new one, `Work()`, does nothing.
void train_step(Rank& rank, const Model& model, const Stage& stage, const Batch& batch, View loss) {
  Group& world = rank.world();
  const int p = rank.size(), r = rank.id(), m = batch.num_micro();
  const int before = stage.is_first() ? kNobody : r - 1, after = stage.is_last() ? kNobody : r + 1;
  std::vector<Tensor> x(m), logits(m);
  std::vector<StageSaved> saved(m);

  const auto forward = [&](int i) {
    if (stage.is_first()) {
      x[i] = clone(batch.micro(i).inputs);
    } else {
      x[i] = rank.empty(stage.input_shape(), Kind::activation);
      world.recv(x[i], before);
    }
    Tensor y = stage.forward(x[i], &saved[i]);
    if (stage.is_last()) logits[i] = std::move(y);
    return y;
  };
  const auto backward = [&](int i) {
    Tensor grad;
    if (stage.is_last()) {
      grad = model.loss(std::move(logits[i]), batch.micro(i).targets, batch.tokens_of_step(), loss);
    } else {
      grad = rank.empty(stage.output_shape(), Kind::activation);
      world.recv(grad, after);
    }
    grad = stage.backward(x[i], std::move(saved[i]), std::move(grad));
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
  const int warm_up = std::min(r, m);
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

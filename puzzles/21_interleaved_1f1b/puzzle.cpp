// Puzzle 21: interleaved 1F1B.
//
// Each rank holds v short chunks of layers instead of one long stage, and the bubble is divided by v.
// The lesson is README.md beside this file; `./shardlings explain 21` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <utility>
#include <vector>

using namespace shardlings;

/// Gradients and loss of one step on m micro-batches, m a multiple of p. Rank r of p holds v = chunks.size() stages of
/// the p v that the model is cut into: chunks[c] is stage c p + r. The last rank's chunk c is followed by chunk c + 1
/// of rank 0.
///
/// forward(i, c)    takes the input of chunk c for micro-batch i, computes, sends the output on to `next`
/// backward(i, c)   takes the gradient of its output, computes, frees, sends the gradient of its input back to `prev`
///
/// Result  gradients and loss as if one device had trained on the whole batch
/// Time    each rank computes m v forwards and backwards of a chunk, and waits p - 1 turns of a chunk and no longer
/// Flight  no more chunks have run forward on this rank and not yet backward than a warm-up needs that is two forwards
///         longer for each rank after this one
/// Wire    for each micro-batch and boundary of the p v stages: one message with its activation, one with its gradient
/// Memory  at most what is in flight, on the device, and in each direction one message that was sent and not waited for
///
/// Calls that you need: forward and backward from below, each m v times. All the rest is there.
void train_step(Rank& rank, const Model& model, const std::vector<Stage>& chunks, const Batch& batch, View loss) {
  const int p = rank.size(), r = rank.id(), m = batch.num_micro(), v = static_cast<int>(chunks.size());
  const int next = (r + 1) % p, prev = (r + p - 1) % p;
  // Between two ranks messages keep their order. With p = 2 next and prev are the same rank: two groups, two orders.
  Group down = rank.world().split(0, r, "down"), up = rank.world().split(0, r, "up");
  std::vector<Tensor> x(m * v), logits(m);
  std::vector<StageSaved> saved(m * v);
  Work sent_down, sent_up;

  // `at` is the line that calls, for reports.
  const auto forward = [&](int i, int c, Location at = Location::current()) {
    Tensor& in = x[i * v + c];
    if (chunks[c].is_first()) {
      in = clone(batch.micro(i).inputs, at);
    } else {
      in = rank.empty(chunks[c].input_shape(), Kind::activation, DType::f32, at);
      down.recv(in, prev, at);
    }
    Tensor y = chunks[c].forward(in, &saved[i * v + c], at);
    if (chunks[c].is_last()) {
      logits[i] = std::move(y);
      return;
    }
    sent_down.wait(at);
    sent_down = down.send_async(y, next, at).keep(std::move(y));
  };
  const auto backward = [&](int i, int c, Location at = Location::current()) {
    Tensor grad;
    if (chunks[c].is_last()) {
      grad = model.loss(std::move(logits[i]), batch.micro(i).targets, batch.tokens_of_step(), loss, at);
    } else {
      grad = rank.empty(chunks[c].output_shape(), Kind::activation, DType::f32, at);
      up.recv(grad, next, at);
    }
    grad = chunks[c].backward(x[i * v + c], std::move(saved[i * v + c]), std::move(grad), at);
    x[i * v + c] = {};
    if (chunks[c].is_first()) return;
    sent_up.wait(at);
    sent_up = up.send_async(grad, prev, at).keep(std::move(grad));
  };

  struct Slot {
    int i, c;  // micro-batch, chunk
  };
  std::vector<Slot> order;  // in which this rank's slots run forward

  // >>> your code (about 11 lines)
  not_implemented();
  // <<<
  sent_down.wait();
  sent_up.wait();
}

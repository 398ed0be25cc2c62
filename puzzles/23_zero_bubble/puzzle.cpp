// Puzzle 23: zero bubble.
//
// The pipeline of puzzle 20 with backward in two halves, one of which fills the bubble. The lesson is README.md beside
// this file; `./shardlings explain 23` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <utility>
#include <vector>

using namespace shardlings;

/// Gradients and loss of one step on m micro-batches, in a pipeline of p stages; this rank has stage r of 0 to p-1, and
/// memory for `most` micro-batches. Which of the three passes comes next?
///
/// forward()           F: takes the next micro-batch through this stage, and sends its output on
/// backward_input()    B: waits for the gradient of the output of the next one, and sends that of its input up
/// backward_weights()  W: adds the gradients of the stage's weights, of the next one
/// forwards, inputs, weights   how many of each this rank has run
///
/// Result  gradients and loss as if one device had trained on the whole batch
/// Passes  each layer F, B and W once for each micro-batch
/// Limit   at no time more than `most` micro-batches that have had their F and not yet their W
/// Time    if most = p: as little as any order within the limit can take, where all stages are equally long
///         if most > p: at least half of what memory for more than p can save at best
///         if most < p: no longer than 1F1B takes with W right behind B and a warm-up of min(most - 1, p - 1 - r)
/// Wire    for each micro-batch and boundary: its activation once, its gradient once, each as one message
/// Memory  beside the micro-batches within the limit nothing stays on the device but messages, and nothing on the host
void train_step(Rank& rank, const Model& model, const Stage& stage, const Batch& batch, int most, View loss) {
  Group& world = rank.world();
  [[maybe_unused]] const int p = rank.size(), r = rank.id(), m = batch.num_micro();
  const int before = stage.is_first() ? kNobody : r - 1, after = stage.is_last() ? kNobody : r + 1;
  std::vector<Tensor> x(m), logits(m);
  std::vector<StageSaved> saved(m);
  std::vector<Work> down(m), up(m);
  int forwards = 0, inputs = 0, weights = 0;

  // `at` is the line that calls, for reports.
  [[maybe_unused]] const auto forward = [&](Location at = Location::current()) {
    const int i = forwards++;
    if (stage.is_first()) {
      x[i] = clone(batch.micro(i).inputs, at);
    } else {
      x[i] = rank.empty(stage.input_shape(), Kind::activation, DType::f32, at);
      world.recv(x[i], before, at);
    }
    Tensor y = stage.forward(x[i], &saved[i], at);
    if (stage.is_last()) {
      logits[i] = std::move(y);
    } else {
      down[i] = world.send_async(y, after, at).keep(std::move(y));
    }
  };
  [[maybe_unused]] const auto backward_input = [&](Location at = Location::current()) {
    const int i = inputs++;
    Tensor grad;
    if (stage.is_last()) {
      grad = model.loss(std::move(logits[i]), batch.micro(i).targets, batch.tokens_of_step(), loss, at);
    } else {
      down[i].wait(at);  // what is to come back was taken long ago
      grad = rank.empty(stage.output_shape(), Kind::activation, DType::f32, at);
      world.recv(grad, after, at);
    }
    grad = stage.backward_input(x[i], saved[i], std::move(grad), at);
    if (stage.is_first()) return;
    if (i >= most) up[i - most].wait(at);  // taken as well: the rank above holds no more than `most` either
    up[i] = world.send_async(grad, before, at).keep(std::move(grad));
  };
  [[maybe_unused]] const auto backward_weights = [&](Location at = Location::current()) {
    const int i = weights++;
    stage.backward_weights(x[i], std::move(saved[i]), at);
    x[i] = {};
  };

  // >>> your code (about 10 lines)
  not_implemented();
  // <<<
  for (Work& work : up) work.wait();
}

// diagnosis: all_forward_first
// All forward, then all backward.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <utility>
#include <vector>

using namespace shardlings;

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
  Work down, up;
  const auto send_down = [&](Tensor y) {
    down.wait();
    down = world.send_async(y, after).keep(std::move(y));
  };
  const auto send_up = [&](Tensor grad) {
    up.wait();
    up = world.send_async(grad, before).keep(std::move(grad));
  };
  const int warm_up = m;
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

// diagnosis: sent_late
// Sends an output after the backward that follows.

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

  struct Incoming {
    Tensor data;
    Work work;
  };
  const auto expect = [&](Shape shape, int from) {
    Incoming in;
    if (from != kNobody) in.data = rank.empty(shape, Kind::activation);
    in.work = world.recv_async(in.data, from);
    return in;
  };
  const auto forward = [&](int i) {
    Tensor y = stage.forward(x[i], &saved[i]);
    if (stage.is_last()) logits[i] = std::move(y);
    return y;
  };
  const auto backward = [&](int i, Tensor grad) {
    grad = stage.backward(x[i], std::move(saved[i]), std::move(grad));
    x[i] = {};
    return grad;
  };

  // >>> your code (about 30 lines)
  Incoming next_x = expect(stage.input_shape(), before);
  Incoming next_grad = expect(stage.output_shape(), after);
  Work down, up;
  Tensor ready;
  const auto send_down = [&] {
    if (!ready) return;
    down.wait();
    down = world.send_async(ready, after).keep(std::move(ready));
  };
  const auto go_forward = [&](int i) {
    if (stage.is_first()) {
      x[i] = clone(batch.micro(i).inputs);
    } else {
      next_x.work.wait();
      x[i] = std::move(next_x.data);
      if (i + 1 < m) next_x = expect(stage.input_shape(), before);
    }
    Tensor y = forward(i);
    ready = std::move(y);
  };
  const auto go_backward = [&](int i) {
    Tensor grad;
    if (stage.is_last()) {
      grad = model.loss(std::move(logits[i]), batch.micro(i).targets, batch.tokens_of_step(), loss);
    } else {
      next_grad.work.wait();
      grad = std::move(next_grad.data);
      if (i + 1 < m) next_grad = expect(stage.output_shape(), after);
    }
    grad = backward(i, std::move(grad));
    up.wait();
    up = world.send_async(grad, before).keep(std::move(grad));
  };
  const int warm_up = std::min(2 * (p - r - 1), m);
  for (int i = 0; i < warm_up; ++i) {
    go_forward(i);
    send_down();
  }
  for (int i = 0; i < m - warm_up; ++i) {
    go_forward(warm_up + i);
    if (stage.is_last() || warm_up == 0) send_down();
    go_backward(i);
    send_down();
  }
  for (int i = m - warm_up; i < m; ++i) go_backward(i);
  down.wait();
  up.wait();
  // <<<
}

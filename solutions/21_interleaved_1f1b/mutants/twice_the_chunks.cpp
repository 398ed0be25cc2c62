// diagnosis: warm_up_too_long
// v p instead of (v - 1) p.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <utility>
#include <vector>

using namespace shardlings;

void train_step(Rank& rank, const Model& model, const std::vector<Stage>& chunks, const Batch& batch, View loss) {
  const int p = rank.size(), r = rank.id(), m = batch.num_micro(), v = static_cast<int>(chunks.size());
  const int next = (r + 1) % p, prev = (r + p - 1) % p;
  // Between two ranks messages keep their order. With p = 2 next and prev are the same rank: two groups, two orders.
  Group down = rank.world().split(0, r, "down"), up = rank.world().split(0, r, "up");
  std::vector<Tensor> x(m * v), logits(m);
  std::vector<StageSaved> saved(m * v);
  Work sent_down, sent_up;

  const auto forward = [&](int i, int c) {
    Tensor& in = x[i * v + c];
    if (chunks[c].is_first()) {
      in = clone(batch.micro(i).inputs);
    } else {
      in = rank.empty(chunks[c].input_shape(), Kind::activation);
      down.recv(in, prev);
    }
    Tensor y = chunks[c].forward(in, &saved[i * v + c]);
    if (chunks[c].is_last()) {
      logits[i] = std::move(y);
      return;
    }
    sent_down.wait();
    sent_down = down.send_async(y, next).keep(std::move(y));
  };
  const auto backward = [&](int i, int c) {
    Tensor grad;
    if (chunks[c].is_last()) {
      grad = model.loss(std::move(logits[i]), batch.micro(i).targets, batch.tokens_of_step(), loss);
    } else {
      grad = rank.empty(chunks[c].output_shape(), Kind::activation);
      up.recv(grad, next);
    }
    grad = chunks[c].backward(x[i * v + c], std::move(saved[i * v + c]), std::move(grad));
    x[i * v + c] = {};
    if (chunks[c].is_first()) return;
    sent_up.wait();
    sent_up = up.send_async(grad, prev).keep(std::move(grad));
  };

  // >>> your code (about 15 lines)
  struct Slot {
    int i, c;
  };
  std::vector<Slot> order;
  for (int first = 0; first < m; first += p) {
    for (int c = 0; c < v; ++c) {
      for (int i = first; i < first + p; ++i) order.push_back({i, c});
    }
  }
  const int all = m * v;
  const int warm_up = std::min(2 * (p - r - 1) + v * p, all);
  for (int k = 0; k < all + warm_up; ++k) {
    if (k < all) forward(order[k].i, order[k].c);
    if (k >= warm_up) backward(order[k - warm_up].i, v - 1 - order[k - warm_up].c);
  }
  // <<<
  sent_down.wait();
  sent_up.wait();
}

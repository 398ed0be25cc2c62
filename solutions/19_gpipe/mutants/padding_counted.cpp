// diagnosis: padding_counted
// Divides by all targets.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

void train_step(Rank& rank, const Model& model, const Stage& stage, const Batch& batch, View loss) {
  Group& world = rank.world();
  const int m = batch.num_micro();
  const int before = stage.is_first() ? kNobody : rank.id() - 1;  // the rank that has the stage before mine
  const int after = stage.is_last() ? kNobody : rank.id() + 1;    // and the one after it
  std::vector<Tensor> x(m);                                       // x[i]: the input of my stage for micro-batch i
  std::vector<StageSaved> saved(m);  // saved[i]: what backward of micro-batch i needs besides x[i]
  std::vector<Tensor> logits(m);     // logits[i]: the output of the last stage

  // >>> your code (about 22 lines)
  for (int i = 0; i < m; ++i) {
    if (stage.is_first()) {
      x[i] = clone(batch.micro(i).inputs);
    } else {
      x[i] = rank.empty(stage.input_shape(), Kind::activation);
      world.recv(x[i], before);
    }
    Tensor y = stage.forward(x[i], &saved[i]);
    if (stage.is_last()) {
      logits[i] = std::move(y);
    } else {
      world.send(y, after);
    }
  }
  for (int i = 0; i < m; ++i) {
    Tensor grad;
    if (stage.is_last()) {
      grad = model.loss(std::move(logits[i]), batch.micro(i).targets, m * batch.micro(i).targets.size(), loss);
    } else {
      grad = rank.empty(stage.output_shape(), Kind::activation);
      world.recv(grad, after);
    }
    grad = stage.backward(x[i], std::move(saved[i]), std::move(grad));
    x[i] = {};
    if (!stage.is_first()) world.send(grad, before);
  }
  // <<<
}

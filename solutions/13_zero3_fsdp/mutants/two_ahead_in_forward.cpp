// diagnosis: prefetched_too_far
// Two layers ahead in forward only, where the peak of the step does not show it.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// The whole weights of one layer: on their way, or there.
struct Unit {
  Tensor full;    // (model.size(l))
  Work gathered;  // the all-gather that fills it
};

void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, View loss) {
  Group& world = rank.world();
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]
  x[0] = clone(batch.inputs);

  // >>> your code (about 25 lines)
  const auto gather = [&](int l) {
    Unit unit{rank.empty(model.size(l), Kind::parameter), {}};
    unit.gathered = world.all_gather_async(state.weights[l], unit.full);
    return unit;
  };
  Unit now, next = gather(0), after = layers > 1 ? gather(1) : Unit();
  for (int l = 0; l < layers; ++l) {
    now = std::move(next);
    next = std::move(after);
    if (l + 2 < layers) after = gather(l + 2);
    now.gathered.wait();
    x[l + 1] = model.forward(l, now.full, x[l], &saved[l]);
  }
  Tensor grad = model.loss(std::move(x[layers]), batch.targets, batch.tokens_of_step(), loss);
  Work reduced;
  for (int l = layers - 1; l >= 0; --l) {
    if (l < layers - 1) now = std::move(next);
    if (l > 0) next = gather(l - 1);
    now.gathered.wait();
    Tensor full = rank.zeros(model.size(l), Kind::gradient);
    grad = model.backward(l, now.full, x[l], std::move(saved[l]), std::move(grad), full);
    x[l] = {};
    reduced.wait();
    reduced = world.reduce_scatter_async(full, state.grads[l], ReduceOp::sum).keep(std::move(full));
  }
  reduced.wait();
  // <<<

  for (int l = 0; l < layers; ++l) model.update(l, state.weights[l], state.grads[l], state.optimizer[l]);
}

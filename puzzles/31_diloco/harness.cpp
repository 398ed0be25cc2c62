// Gives each worker its own data and a state that is equal on all of them, lets the learner's diloco() run, whose inner
// steps are made here, and publishes what each worker has in the end.

#include "submission/harness.h"

#include <string>
#include <utility>

#include "plan.h"

using namespace shardlings;

/// Makes a Worker, and lets the learner's diloco() use it. `targets` are those of all layers, of exact cases alone.
SHARDLINGS_LEARNER_FUNCTION(train_worker, void(Rank& rank, const Model& model, const OuterPlan& plan, TrainState& state,
                                               const Batch& batch, ConstView targets, float lr, View loss));

#ifdef SHARDLINGS_BESIDE_LEARNER

struct Worker {
  const Model& model;
  TrainState& state;
  const Batch& batch;
  ConstView targets;
  float lr = 0;
  View loss;
  int steps = 0;  // made so far
};

namespace {

/// Half of the squared distance from the target: every number is exact.
void quadratic_step(Worker& worker, Location at) {
  for (int l = 0; l < worker.model.num_layers(); ++l) {
    Tensor& weights = worker.state.weights[l];
    Tensor grad = clone(weights, at);
    axpy(grad, -1, worker.targets.part(worker.model.range(l)), at);
    axpy(weights, -worker.lr, grad, at);
  }
}

void model_step(Worker& worker, const MicroBatch& micro, Location at) {
  const Model& model = worker.model;
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);
  std::vector<Saved> saved(layers);
  for (Tensor& grad : worker.state.grads) fill(grad, 0, at);
  x[0] = clone(micro.inputs, at);
  for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, worker.state.weights[l], x[l], &saved[l], at);
  Tensor grad = model.loss(std::move(x[layers]), micro.targets, micro.tokens, worker.loss, at);
  for (int l = layers - 1; l >= 0; --l) {
    grad = model.backward(l, worker.state.weights[l], x[l], std::move(saved[l]), std::move(grad), worker.state.grads[l],
                          at);
    x[l] = {};
  }
  grad = {};
  for (int l = 0; l < layers; ++l) {
    model.update(l, worker.state.weights[l], worker.state.grads[l], worker.state.optimizer[l], {}, at);
  }
}

}  // namespace

void inner_step(Worker& worker, Location at) {
  const int step = worker.steps++;
  if (worker.targets) return quadratic_step(worker, at);
  model_step(worker, worker.batch.micro(step % worker.batch.num_micro()), at);
}

void diloco(Rank& rank, const OuterPlan& plan, TrainState& state, Worker& worker);

void train_worker(Rank& rank, const Model& model, const OuterPlan& plan, TrainState& state, const Batch& batch,
                  ConstView targets, float lr, View loss) {
  Worker worker{model, state, batch, targets, lr, loss};
  diloco(rank, plan, state, worker);
}

#endif

SHARDLINGS_HARNESS(h) {
  const Model model = h.model();
  const OuterPlan plan =
      outer_plan_of(h.kase(), model.num_layers(), [&](int worker, int micro) { return h.tokens_of(worker, micro); });
  TrainState state = h.state();
  Batch batch;
  Tensor targets;
  if (is_quadratic(h.kase())) {
    targets = h.integers(model.total(), Kind::other);
    for (int l = 0; l < model.num_layers(); ++l) {
      copy(state.weights[l], h.tensor(exact_weights(h.kase(), l, model.size(l)), Kind::other));
    }
  } else {
    batch = h.batch();
  }
  Tensor loss = h.rank().zeros(1, Kind::other);
  h.begin();
  train_worker(h.rank(), model, plan, state, batch, targets, h.kase().model.lr, loss);
  h.end();
  // From a jail the lists may come back in any length.
  state.weights.resize(static_cast<std::size_t>(model.num_layers()));
  state.optimizer.resize(static_cast<std::size_t>(model.num_layers()));
  for (int l = 0; l < model.num_layers(); ++l) {
    const std::string number = std::to_string(l);
    h.put_of_rank("model." + number, state.weights[l]);
    if (state.optimizer[l].m) h.put_of_rank("m." + number, state.optimizer[l].m);
    if (state.optimizer[l].v) h.put_of_rank("v." + number, state.optimizer[l].v);
  }
}

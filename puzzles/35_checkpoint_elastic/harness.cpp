// Gives every rank the state of the beginning and all data, lets the learner's train() run while ranks die, and
// publishes what those have that trained last, and what groups of other sizes load from the store.

#include "submission/harness.h"

#include <limits>
#include <string>

#include "elastic_plan.h"

using namespace shardlings;
using submission::Harness;

// As in puzzle.cpp.
struct ElasticPlan {
  Count steps = 0;
  Count batch = 0;
  Count every = 1;
  Count replicas = 1;
};

SHARDLINGS_LEARNER_FUNCTION(steps_between_saves, Count(double save, double step, double mean));
SHARDLINGS_LEARNER_FUNCTION(load, Count(Rank& rank, Group& active, TrainState& state));
/// Makes a Worker, and lets the learner's train() use it; `rows` are those of exact cases. Returns how often it was
/// asked for a gradient.
SHARDLINGS_LEARNER_FUNCTION(train_elastic, Count(Rank& rank, const Model& model, const ElasticPlan& plan,
                                                 TrainState& state, const Batch& batch, ConstView rows));

#ifdef SHARDLINGS_BESIDE_LEARNER

struct Worker {
  const Model& model;
  const ElasticPlan& plan;
  TrainState& state;
  const Batch& batch;
  ConstView rows;  // (data, weights of all layers)
  Tensor loss;
  Count asked = 0;
};

namespace {

void add_row(Worker& worker, Count number, Location at) {
  const Count total = worker.model.total();
  const ConstView row = worker.rows.part({number * total, (number + 1) * total});
  for (int l = 0; l < worker.model.num_layers(); ++l) add(worker.state.grads[l], row.part(worker.model.range(l)), at);
}

void add_model_gradient(Worker& worker, const MicroBatch& micro, Location at) {
  const Model& model = worker.model;
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);
  std::vector<Saved> saved(layers);
  x[0] = clone(micro.inputs, at);
  for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, worker.state.weights[l], x[l], &saved[l], at);
  Tensor grad = model.loss(std::move(x[layers]), micro.targets, micro.tokens, worker.loss, at);
  for (int l = layers - 1; l >= 0; --l) {
    grad = model.backward(l, worker.state.weights[l], x[l], std::move(saved[l]), std::move(grad), worker.state.grads[l],
                          at);
    x[l] = {};
  }
}

void check_numbers(const ElasticPlan& plan, Count step, Count i, Location at) {
  if (step >= 0 && step < plan.steps && i >= 0 && i < plan.batch) return;
  const std::string text = "add_gradient: there is no micro-batch " + std::to_string(i) + " of step " +
                           std::to_string(step) + ": micro-batches are numbered from 0 to " +
                           std::to_string(plan.batch - 1) + ", and steps from 0 to " + std::to_string(plan.steps - 1);
  throw InvalidArgument(text.c_str(), at);
}

}  // namespace

void add_gradient(Worker& worker, Count step, Count i, Location at) {
  check_numbers(worker.plan, step, i, at);
  ++worker.asked;
  const Count data = worker.batch.num_micro(), number = (step * worker.plan.batch + i) % data;
  if (worker.rows) return add_row(worker, number, at);
  add_model_gradient(worker, worker.batch.micro(static_cast<int>(number)), at);
}

std::vector<View> tensors_of(TrainState& state) {
  std::vector<View> tensors(state.weights.begin(), state.weights.end());
  for (OptimizerState& of : state.optimizer) {
    if (of.m) tensors.push_back(of.m);
    if (of.v) tensors.push_back(of.v);
  }
  return tensors;
}

Range part_among(Count ranks, Count n, Count r) {
  const Count each = n / ranks, longer = n % ranks, begin = r * each + std::min(r, longer);
  return {begin, begin + each + (r < longer ? 1 : 0)};
}

void train(Rank& rank, const Model& model, const ElasticPlan& plan, TrainState& state, Worker& worker);

Count train_elastic(Rank& rank, const Model& model, const ElasticPlan& plan, TrainState& state, const Batch& batch,
                    ConstView rows) {
  Worker worker{model, plan, state, batch, rows, rank.zeros(1, Kind::other)};
  train(rank, model, plan, state, worker);
  return worker.asked;
}

#endif

namespace {

ElasticPlan plan_of(const cases::Case& kase) {
  check_plan(kase);
  return {kase.steps, kase.integer("step_batch"), kase.integer("every"), kase.integer("replicas")};
}

/// Behind the learner's function it may have put anything into the lists, in any length.
void put_state(Harness& h, const std::string& prefix, TrainState& state) {
  const auto layers = static_cast<std::size_t>(h.model().num_layers());
  state.weights.resize(layers);
  state.optimizer.resize(layers);
  std::vector<float> updates;
  for (std::size_t l = 0; l < layers; ++l) {
    const std::string number = std::to_string(l);
    const OptimizerState& of = state.optimizer[l];
    h.put(prefix + "model." + number, state.weights[l]);
    if (of.m) h.put(prefix + "m." + number, of.m);
    if (of.v) h.put(prefix + "v." + number, of.v);
    updates.push_back(static_cast<float>(of.step));
  }
  h.put(prefix + "updates", h.tensor(updates, Kind::other));
}

std::string text_of(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
  return text;
}

/// All that live, where train() has returned on each of them. A rank that is still inside of it calls survivors(), too,
/// but says another number.
Group all_returned(Harness& h) {
  constexpr Count kReturned = std::numeric_limits<Count>::min();
  const Survivors now = h.rank().survivors(kReturned);
  std::vector<int> inside;
  for (std::size_t i = 0; i < now.said.size(); ++i) {
    if (now.said[i] != kReturned) inside.push_back(now.ranks[i]);
  }
  if (inside.empty()) return now.group;
  const std::string text = "desertion: rank " + std::to_string(h.rank().id()) + " has returned from train(), and " +
                           text_of(inside) + (inside.size() == 1 ? " has" : " have") +
                           " not: all that live return together, spare ones too, each after one and the same call of "
                           "survivors()";
  throw MisuseError(Misuse::desertion, text.c_str(), h.last_place());
}

/// The newest checkpoint, as the first `ranks` of `live` load it into a state that is full of NaN.
void put_loaded(Harness& h, Group& live, int ranks) {
  Group active = live.split(live.rank() < ranks ? 0 : kNobody, 0);
  if (!active) return;
  TrainState state = h.state({.grads = false});
  for (std::size_t l = 0; l < state.weights.size(); ++l) {
    for (Tensor* tensor : {&state.weights[l], &state.optimizer[l].m, &state.optimizer[l].v}) {
      if (*tensor) fill(*tensor, std::numeric_limits<float>::quiet_NaN());
    }
  }
  const Count updates = boundary::beside_the_run(load, h.rank(), active, state);
  const std::string prefix = "by " + std::to_string(ranks) + ".";
  put_state(h, prefix, state);
  h.put(prefix + "loaded", h.tensor({static_cast<float>(updates)}, Kind::other));
}

/// So many numbers of an exact case. A simulation has none, but it makes the same calls, and has the same in memory.
template <class Make>
Tensor exact_numbers(Harness& h, Count n, Make make) {
  return h.computes() ? h.tensor(make(), Kind::other) : h.rank().empty(n, Kind::other, DType::f32, detail::kNoPlace);
}

/// Exact cases begin with whole numbers.
void load_exact_weights(Harness& h, TrainState& state) {
  std::vector<float> all;
  if (h.computes()) all = exact_row(h.kase(), h.kase().micro_batches, h.model().total());
  for (int l = 0; l < h.model().num_layers(); ++l) {
    const Range range = h.model().range(l);
    copy(state.weights[l], exact_numbers(h, range.size(), [&] {
           return std::vector<float>(all.begin() + range.begin, all.begin() + range.end);
         }));
  }
}

/// The gradients of all micro-batches, one behind another.
Tensor exact_rows(Harness& h) {
  const Count total = h.model().total(), rows = h.kase().micro_batches;
  return exact_numbers(h, rows * total, [&] {
    std::vector<float> all;
    for (Count number = 0; number < rows; ++number) {
      const std::vector<float> row = exact_row(h.kase(), number, total);
      all.insert(all.end(), row.begin(), row.end());
    }
    return all;
  });
}

}  // namespace

SHARDLINGS_HARNESS(h) {
  const Model model = h.model();
  const ElasticPlan plan = plan_of(h.kase());
  TrainState state = h.state();
  const Batch batch = h.batch({.which = 0});
  Tensor rows;
  if (is_exact(h.kase())) {
    load_exact_weights(h, state);
    rows = exact_rows(h);
  }
  h.begin();
  const Count asked = train_elastic(h.rank(), model, plan, state, batch, rows);
  h.end();
  if (!h.computes()) return;
  std::vector<float> intervals;
  for (const IntervalQuestion& of : interval_questions(h.kase())) {
    intervals.push_back(static_cast<float>(steps_between_saves(of.save, of.step, of.mean)));
  }
  Group live = all_returned(h);
  h.put("intervals", h.tensor(intervals, Kind::other));
  h.put("asked." + std::to_string(h.rank().id()), h.tensor({static_cast<float>(asked)}, Kind::other));
  if (live.rank() < plan.replicas) {
    put_state(h, "", state);
    h.put_layers("own." + std::to_string(h.rank().id()), state.weights);
  }
  for (const int ranks : loading_ranks(live.size())) put_loaded(h, live, ranks);
}

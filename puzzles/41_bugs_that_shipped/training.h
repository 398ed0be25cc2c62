// What the programs of this puzzle train with: a linear layer, or a pipeline of them, on samples of a table. Both the
// harness, which runs the programs as they were published, and the learner's side have it.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "shardlings/puzzle.h"

// The first three are those of puzzle.cpp.

struct Loader {
  shardlings::Count data = 0;
  shardlings::Count at = 0;
  shardlings::Count next(shardlings::Count n) {
    const shardlings::Count first = at;
    at = (at + n) % data;
    return first;
  }
};

struct Machine;
struct Training {
  int micro_batches = 1;
  float share = 1;
  shardlings::Count samples = 0;
  std::vector<shardlings::Count> first;
  Loader loader;
  shardlings::Group dp;
  shardlings::View grads;
  bool sync = false;
  Machine* machine = nullptr;
};

struct LogLine {
  int run = 0, step = 0;
  float loss = 0;
  float norm = 0;
  std::vector<shardlings::Count> samples{};
  std::vector<float> replicas{};
  shardlings::Count sent = 0;
};
template <class Archive>
void parts_of(Archive& a, LogLine& line) {
  a(line.run, line.step, line.loss, line.norm, line.samples, line.replicas, line.sent);
}

/// A run of one of the programs.
struct Setup {
  int program = 1;  ///< 1 to 6
  int micro_batches = 1;
  int steps = 1;
  shardlings::Count samples = 0;  ///< of a micro-batch, of all replicas
  shardlings::Count data = 0;     ///< samples of the data set
  float lr = 0;
  bool adam = false;
  shardlings::ConstView inputs, targets;  ///< (data + 1, width): one more than the data set has
  shardlings::View weights, grads;        ///< of this rank's layer: (width, width)
  shardlings::Group dp, pp;
  std::vector<shardlings::Count> order;  ///< which row of the tables sample i is
};
template <class Archive>
void parts_of(Archive& a, Setup& setup) {
  a(setup.program, setup.micro_batches, setup.steps, setup.samples, setup.data, setup.lr, setup.adam, setup.inputs,
    setup.targets, setup.weights, setup.grads, setup.dp, setup.pp, setup.order);
}

/// A micro-batch on its way.
struct InFlight {
  shardlings::Tensor x, y;
  bool sync = false;
};

struct Machine {
  shardlings::Rank& rank;
  Setup& setup;
  std::vector<InFlight> micros{};
  shardlings::OptimizerState optimizer{};
  shardlings::Tensor loss{};              ///< sum of the mean losses of the step's micro-batches, on the last stage
  std::vector<shardlings::Count> read{};  ///< samples of the step, in their order
  shardlings::Count sent = 0;             ///< bytes of the step, by this rank
  shardlings::View first_grads{};         ///< if wanted: what the optimizer was given in the first step
  int updates = 0;
};

#ifndef SHARDLINGS_BESIDE_LEARNER
namespace {
#endif

/// The bytes that a rank sends in an all-reduce.
inline shardlings::Count ring_bytes(const shardlings::Group& group, shardlings::Count elements) {
  return 2 * (group.size() - 1) * elements * 4 / group.size();
}

/// This replica's rows of a table: micro-batch i.
inline shardlings::Tensor rows_of(const Training& t, shardlings::ConstView table, int i, shardlings::Location at) {
  using namespace shardlings;
  const Setup& setup = t.machine->setup;
  const Range mine = t.dp.mine(t.samples);
  Tensor ids = t.machine->rank.empty({mine.size(), 1}, Kind::other, DType::f32, at);
  for (Count j = mine.begin; j < mine.end; ++j) {
    const Count row = setup.order[static_cast<std::size_t>((t.first[static_cast<std::size_t>(i)] + j) % setup.data)];
    fill(ids.part({j - mine.begin, j - mine.begin + 1}), static_cast<float>(row), at);
  }
  const Tensor whole = cast(ids, DType::i32, at);
  return embedding(whole, table, {0, setup.data + 1}, at);
}

void forward(Training& t, int i, shardlings::Location at = shardlings::Location::current()) {
  using namespace shardlings;
  Machine& machine = *t.machine;
  Group pp = machine.setup.pp;
  InFlight& micro = machine.micros.at(static_cast<std::size_t>(i));
  micro.sync = t.sync;
  for (Count j = 0; j < t.samples; ++j) {
    const Count first = t.first[static_cast<std::size_t>(i)], data = machine.setup.data;
    // A micro-batch that begins behind the data set is kept as it is, so that it is seen.
    const bool inside = first >= 0 && first < data;
    machine.read.push_back(inside ? machine.setup.order[static_cast<std::size_t>((first + j) % data)] : first + j);
  }
  if (pp.rank() == 0) {
    micro.x = rows_of(t, machine.setup.inputs, i, at);
  } else {
    const Count width = machine.setup.weights.shape()[1];
    micro.x = machine.rank.empty({t.dp.mine(t.samples).size(), 1, width}, Kind::activation, DType::f32, at);
    pp.recv(micro.x, pp.rank() - 1, at);
  }
  micro.y = matmul(micro.x, machine.setup.weights, nt, at);
  if (pp.rank() + 1 == pp.size()) return;
  pp.send(micro.y, pp.rank() + 1, at);
  machine.sent += micro.y.size() * 4;
  micro.y = {};
}

void backward(Training& t, int i, float factor = 1, shardlings::Location at = shardlings::Location::current()) {
  using namespace shardlings;
  Machine& machine = *t.machine;
  Group pp = machine.setup.pp;
  InFlight& micro = machine.micros.at(static_cast<std::size_t>(i));
  Tensor grad;
  if (pp.rank() + 1 == pp.size()) {  // the loss of a sample is half the square of the distance
    grad = std::move(micro.y);
    axpy(grad, -1, rows_of(t, machine.setup.targets, i, at), at);
    const float of_one = 1 / static_cast<float>(t.dp.mine(t.samples).size());
    Tensor squares = machine.rank.zeros(1, Kind::other, DType::f32, at);
    add_squares(squares, grad, at);
    axpy(machine.loss, of_one / 2, squares, at);
    scale(grad, factor * of_one, at);
  } else {
    grad = machine.rank.empty(micro.x.shape(), Kind::activation, DType::f32, at);
    pp.recv(grad, pp.rank() + 1, at);
  }
  matmul_add(t.grads, grad, micro.x, tn, at);
  if (pp.rank() > 0) {
    const Tensor back = matmul(grad, machine.setup.weights, nn, at);
    pp.send(back, pp.rank() - 1, at);
    machine.sent += back.size() * 4;
  }
  if (!micro.sync) return;
  t.dp.all_reduce(t.grads, ReduceOp::mean, at);
  machine.sent += ring_bytes(t.dp, t.grads.size());
}

void update(Training& t, shardlings::Location at = shardlings::Location::current()) {
  using namespace shardlings;
  Machine& machine = *t.machine;
  const Setup& setup = machine.setup;
  OptimizerState& state = machine.optimizer;
  if (setup.adam) {
    adam(setup.weights, t.grads, state.m, state.v, {.lr = setup.lr, .eps = 1e-6F, .step = ++state.step}, {}, {}, at);
  } else {
    sgd(setup.weights, t.grads, setup.lr, {}, at);
  }
  if (machine.updates++ == 0 && machine.first_grads.size() > 0) copy(machine.first_grads, t.grads);
}

/// Makes the steps of a run; after each of them `seen` is told.
template <class Program, class Seen>
void run_steps(shardlings::Rank& rank, Setup& setup, Program program, Seen seen, shardlings::View first_grads = {}) {
  using namespace shardlings;
  Machine machine{rank, setup};
  machine.first_grads = first_grads;
  machine.micros.resize(static_cast<std::size_t>(setup.micro_batches));
  machine.loss = rank.zeros(1, Kind::other);
  if (setup.adam) {
    machine.optimizer.m = rank.zeros(setup.weights.shape(), Kind::optimizer);
    machine.optimizer.v = rank.zeros(setup.weights.shape(), Kind::optimizer);
  }
  Training t{.micro_batches = setup.micro_batches,
             .share = 1 / static_cast<float>(setup.micro_batches),
             .samples = setup.samples,
             .first = std::vector<Count>(static_cast<std::size_t>(setup.micro_batches)),
             .loader = {setup.data, 0},
             .dp = setup.dp,
             .grads = setup.grads,
             .machine = &machine};
  Loader given{setup.data, 0};
  for (int step = 0; step < setup.steps; ++step) {
    if (setup.program != 6) {
      for (Count& first : t.first) first = given.next(setup.samples);
    }
    fill(t.grads, 0);
    fill(machine.loss, 0);
    machine.read.clear();
    machine.sent = 0;
    program(t);
    seen(step, machine);
  }
}

#ifndef SHARDLINGS_BESIDE_LEARNER
}  // namespace
#endif

/// \file
/// A model on a single rank, for tests: brings data in and out and runs training steps as a puzzle would.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/rank_model.h"
#include "case/case.h"
#include "case/data.h"
#include "shardlings/puzzle.h"
#include "support/on_rank.h"
#include "world/world.h"

namespace shardlings::model_test {

using Layers = std::vector<std::vector<double>>;

/// Small models whose extents divide one another in no way.
model::ModelSpec mlp(int layers, Count hidden, Count outputs, Count sequence);
model::ModelSpec gpt(int layers, Count hidden, int heads, Count vocabulary, Count sequence);
cases::Case case_of(const model::ModelSpec& spec, Count batch, int micro_batches = 1);

/// Runs `body` on one rank of a cluster with a table of calls; its errors fail the test.
front::RunReport on_rank(const std::function<void(Rank&)>& body);
/// The message with which `body` fails; empty if it does not.
std::string error_of(const std::function<void(Rank&)>& body);

using support::front_of;
/// What has been counted of a rank so far.
const front::Counters& counters_of(Rank& rank);
front::Ledger& ledger_of(Rank& rank);  ///< of its device
/// What lives in the memory of a rank's device now.
Bytes live_of(Rank& rank);
Nanos now_of(Rank& rank);
Tensor put(Rank& rank, Shape shape, const std::vector<float>& values, Kind kind = Kind::other);
Tensor put(Rank& rank, Shape shape, const std::vector<std::int32_t>& values);
std::vector<float> get(ConstView view);
Layers get_layers(const std::vector<Tensor>& tensors);

/// The model of a case with weights, gradients (zero) and optimizer states on the device.
struct OnDevice {
  OnDevice(Rank& rank, detail::RankModel of, const Layers& weights);
  OnDevice(Rank& rank, const model::ModelStructure& structure, const Layers& weights)
      : OnDevice(rank, detail::RankModel{std::make_shared<const model::ModelStructure>(structure), {}}, weights) {}

  std::unique_ptr<detail::RankModel> own;  ///< what `model` stands for
  Model model;
  TrainState state;
  Tensor loss;
};
/// The same with the case's own weights.
Layers weights_of(const cases::Case& kase);
Tensor inputs_of(Rank& rank, const cases::Case& kase, const cases::MicroData& data);
Tensor targets_of(Rank& rank, const cases::Case& kase, const cases::MicroData& data);

/// Forward, loss and backward of one micro-batch; adds to gradients and loss. With `recompute`, backward runs on what
/// a second forward saves.
void train_micro(Rank& rank, OnDevice& on, const cases::Case& kase, const cases::MicroData& data, Count tokens,
                 bool recompute = false);
/// One step, on the clipped gradient where the case says so.
void update(Rank& rank, OnDevice& on, float clip = 0);

/// |got - want| <= tolerance of that element; NaN fails.
void expect_within(const Layers& got, const Layers& want, const Layers& tolerance, const std::string& what);
/// |got - want| <= tolerance times the largest of the layer.
void expect_close(const Layers& got, const Layers& want, double tolerance, const std::string& what);

}  // namespace shardlings::model_test

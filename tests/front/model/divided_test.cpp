// Layers divided over a tensor-parallel group: the numbers of one device, 1/t of what is divided, and what is owned.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "api/access.h"
#include "front/model/on_model.h"
#include "grading/reference/reference.h"
#include "model/flops.h"
#include "model/memory.h"
#include "model/stretches.h"

namespace shardlings::model_test {
namespace {

using detail::RankModel;
using model::ModelStructure;

constexpr int kHeads = 5;

model::ModelSpec spec_of(bool tied) {
  model::ModelSpec spec = gpt(2, 10, kHeads, 13, 4);
  spec.tied = tied;
  return spec;
}

/// Runs `body` on t ranks with the model of a case divided over them.
void on_ranks(int t, const model::ModelSpec& spec, const std::function<void(Rank&, const RankModel&)>& body) {
  world::Options options;
  options.ranks = t;
  options.poison_empty = true;
  const front::RunReport report = world::run(options, [&](Rank& rank) {
    body(rank, {std::make_shared<const model::ModelStructure>(model::make_part(spec, t, rank.id())), rank.world()});
  });
  if (report.failure) ADD_FAILURE() << report.failure->message;
}

Layers zeros_like(const Layers& layers) {
  Layers zeros;
  for (const auto& layer : layers) zeros.emplace_back(layer.size(), 0.0);
  return zeros;
}

/// A rank's part of all layers, and back into the whole.
Layers cut(const Layers& whole, const ModelStructure& all, const ModelStructure& part) {
  Layers own;
  for (std::size_t l = 0; l < whole.size(); ++l) {
    own.emplace_back();
    for (const auto& [range, at] : model::stretches(all.layers[l], part.layers[l])) {
      own.back().insert(own.back().end(), whole[l].begin() + at, whole[l].begin() + at + range.size());
    }
  }
  return own;
}

void put_back(const Layers& own, const ModelStructure& all, const ModelStructure& part, Layers& whole) {
  for (std::size_t l = 0; l < own.size(); ++l) {
    for (const auto& [range, at] : model::stretches(all.layers[l], part.layers[l])) {
      std::copy(own[l].begin() + range.begin, own[l].begin() + range.end, whole[l].begin() + at);
    }
  }
}

/// Adds 1 to every element of the whole layer that lies in `ranges` of the part.
void count(const std::vector<Range>& ranges, const model::LayerStructure& all, const model::LayerStructure& part,
           std::vector<double>& counts) {
  for (const auto& [stretch, at] : model::stretches(all, part)) {
    for (const Range& range : ranges) {
      const Range common = intersect(range, stretch);
      for (Count i = common.begin; i < common.end; ++i) ++counts[static_cast<std::size_t>(at + i - stretch.begin)];
    }
  }
}

class Divided : public testing::TestWithParam<int> {};

TEST_P(Divided, PartsOfAllRanksAreTheWhole) {
  const int t = GetParam();
  const ModelStructure all = model::make_structure(spec_of(false));
  for (std::size_t l = 0; l < all.layers.size(); ++l) {
    std::vector<double> counts(static_cast<std::size_t>(all.layers[l].range.size()));
    for (int i = 0; i < t; ++i) {
      const model::LayerStructure part = model::make_part(all.spec, t, i).layers[l];
      count({{0, part.range.size()}}, all.layers[l], part, counts);
    }
    for (const Entry& entry : all.layers[l].entries) {
      for (Count i = entry.range.begin; i < entry.range.end; ++i) {
        EXPECT_EQ(counts[static_cast<std::size_t>(i)], entry.split == Split::whole ? t : 1) << entry.name;
      }
    }
  }
}

TEST_P(Divided, TrainsAsOneDevice) {
  const int t = GetParam();
  cases::Case kase = case_of(spec_of(false), 3, 2);
  kase.uneven_tokens = true;  // some targets count for nothing
  kase.batches = 1;
  const grading::reference::Reference expected = grading::reference::train_reference(kase);
  const ModelStructure all = model::make_structure(kase.model);
  const Layers weights = weights_of(kase);
  Layers grads = zeros_like(weights);
  std::mutex lock;
  on_ranks(t, kase.model, [&](Rank& rank, const RankModel& own) {
    OnDevice on(rank, own, cut(weights, all, *own.structure));
    for (int i = 0; i < kase.micro_batches; ++i) {
      train_micro(rank, on, kase, cases::micro_of(kase, 0, i), cases::tokens_of_step(kase));
    }
    EXPECT_NEAR(get(on.loss)[0], expected.loss, expected.loss_tolerance) << "whole on every rank";
    const Layers part = get_layers(on.state.grads);
    const std::lock_guard guard(lock);
    put_back(part, all, *own.structure, grads);
  });
  expect_within(grads, expected.grads, expected.grads_tolerance, "gradients");
}

TEST_P(Divided, HoldsAndComputesWhatTheFormulasSay) {
  const cases::Case kase = case_of(spec_of(false), 3);
  const ModelStructure all = model::make_structure(kase.model);
  const cases::MicroData data = cases::micro_of(kase, 0, 0);
  const Count batch = kase.batch, tokens = batch * kase.model.sequence;
  on_ranks(GetParam(), kase.model, [&](Rank& rank, const RankModel& own) {
    OnDevice on(rank, own, cut(weights_of(kase), all, *own.structure));
    const Tensor targets = targets_of(rank, kase, data);
    front::Ledger& ledger = ledger_of(rank);
    Tensor x = inputs_of(rank, kase, data);
    for (int l = 0; l < on.model.num_layers(); ++l) {
      const auto at = static_cast<std::size_t>(l);
      const model::LayerStructure& layer = own.structure->layers[at];
      const Bytes before = ledger.live();
      const auto peak = [&] { return ledger.use().peak - before; };
      ledger.reset_peak({});
      Saved saved;
      const Flops flops = counters_of(rank).flops;
      Tensor y = on.model.forward(l, on.state.weights[at], x, &saved);
      EXPECT_EQ(counters_of(rank).flops - flops, forward_flops(layer, tokens, batch));
      EXPECT_EQ(peak(), forward_peak(layer, tokens, batch, true));
      EXPECT_EQ(ledger.live() - before, saved_bytes(layer, tokens, batch) + output_bytes(layer, tokens));
      Tensor next = clone(y);
      if (l + 1 == on.model.num_layers()) {
        const Bytes others = ledger.live() - before - output_bytes(layer, tokens);
        ledger.reset_peak({});
        const Flops before_loss = counters_of(rank).flops;
        y = on.model.loss(std::move(y), targets, tokens, on.loss);
        if (rank.size() == 1) {  // a divided loss is made of other operations
          EXPECT_EQ(counters_of(rank).flops - before_loss, model::loss_flops(kase.model.outputs, tokens));
        }
        EXPECT_EQ(peak() - others, loss_peak(layer, kase.model.outputs, tokens));
      }
      const Bytes apart = output_bytes(layer, tokens);  // of `next`
      ledger.reset_peak({});
      const Flops before_backward = counters_of(rank).flops;
      y = on.model.backward(l, on.state.weights[at], x, std::move(saved), std::move(y), on.state.grads[at]);
      EXPECT_EQ(counters_of(rank).flops - before_backward, backward_flops(layer, tokens, batch)) << "layer " << l;
      EXPECT_EQ(peak() - apart, backward_peak(layer, tokens, batch)) << "layer " << l;
      y = on.model.forward(l, on.state.weights[at], x, &saved);
      ledger.reset_peak({});
      const Flops before_input = counters_of(rank).flops;
      y = on.model.backward_input(l, on.state.weights[at], x, saved, std::move(y));
      EXPECT_EQ(counters_of(rank).flops - before_input, backward_input_flops(layer, tokens, batch)) << "layer " << l;
      EXPECT_EQ(peak() - apart, backward_input_peak(layer, tokens, batch)) << "layer " << l;
      y = {};
      EXPECT_EQ(ledger.live() - before - apart, kept_bytes(layer, tokens)) << "layer " << l;
      ledger.reset_peak({});
      const Flops before_weights = counters_of(rank).flops;
      on.model.backward_weights(l, x, std::move(saved), on.state.grads[at]);
      EXPECT_EQ(counters_of(rank).flops - before_weights, backward_weights_flops(layer, tokens)) << "layer " << l;
      EXPECT_EQ(peak() - apart, kept_bytes(layer, tokens)) << "layer " << l;
      ledger.reset_peak({});
      y = on.model.forward(l, on.state.weights[at], x, nullptr);
      EXPECT_EQ(peak() - apart, forward_peak(layer, tokens, batch, false)) << "layer " << l;
      y = {};
      x = std::move(next);
    }
  });
}

TEST_P(Divided, EveryWeightIsOwnedOnce) {
  const int t = GetParam();
  for (const bool tied : {false, true}) {
    const ModelStructure all = model::make_structure(spec_of(tied));
    for (std::size_t l = 0; l < all.layers.size(); ++l) {
      std::vector<double> counts(static_cast<std::size_t>(all.layers[l].range.size()));
      on_ranks(t, all.spec, [&](Rank& rank, const RankModel& own) {
        static std::mutex lock;
        const std::lock_guard guard(lock);
        const Model model = detail::Access::model(&own);
        EXPECT_EQ(model.size(static_cast<int>(l)), own.structure->layers[l].range.size());
        count(model.owned(static_cast<int>(l)), all.layers[l], own.structure->layers[l], counts);
        EXPECT_EQ(rank.size(), t);
      });
      for (const Entry& entry : all.layers[l].entries) {
        const bool second = tied && l + 1 == all.layers.size() && std::string(entry.name) == "weight";
        for (Count i = entry.range.begin; i < entry.range.end; ++i) {
          EXPECT_EQ(counts[static_cast<std::size_t>(i)], second ? 0 : 1) << entry.name << " of layer " << l;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Divided, testing::Range(1, kHeads + 1));

TEST(Owned, RangesAreJoinedWhereTheyMeet) {
  const RankModel own{std::make_shared<const model::ModelStructure>(model::make_structure(spec_of(true))), {}};
  const Model model = detail::Access::model(&own);
  EXPECT_EQ(model.owned(1), (std::vector<Range>{{0, model.size(1)}}));
  EXPECT_EQ(model.owned(3), (std::vector<Range>{{0, 20}})) << "the norm, but not the weight";
  EXPECT_EQ(model.tied(0), (Range{0, 130}));
  EXPECT_EQ(model.tied(1), Range{});
  EXPECT_EQ(model.tied(3), (Range{20, 150}));
  const RankModel untied{std::make_shared<const model::ModelStructure>(model::make_structure(spec_of(false))), {}};
  EXPECT_EQ(detail::Access::model(&untied).tied(0), Range{});
  EXPECT_EQ(detail::Access::model(&untied).owned(3), (std::vector<Range>{{0, 150}}));
}

TEST(Tied, TensorsTrainAsOneInTheReference) {
  cases::Case kase = case_of(spec_of(true), 2);
  kase.model.optimizer = model::ModelSpec::Optimizer::adam;
  kase.steps = 2;
  const grading::reference::Reference tied = grading::reference::train_reference(kase);
  const Model model = [&] {
    static const RankModel own{std::make_shared<const model::ModelStructure>(model::make_structure(kase.model)), {}};
    return detail::Access::model(&own);
  }();
  const Range first = model.tied(0), last = model.tied(3);
  const auto part = [](const std::vector<double>& all, Range range) {
    return std::vector<double>(all.begin() + range.begin, all.begin() + range.end);
  };
  EXPECT_EQ(part(tied.weights_before.front(), first), part(tied.weights_before.back(), last));
  EXPECT_EQ(part(tied.grads.front(), first), part(tied.grads.back(), last));
  EXPECT_EQ(part(tied.weights.front(), first), part(tied.weights.back(), last));
  double squares = 0;
  for (std::size_t l = 0; l < tied.grads.size(); ++l) {
    for (std::size_t i = 0; i < tied.grads[l].size(); ++i) {
      const bool second = l == 3 && static_cast<Count>(i) >= last.begin;
      if (!second) squares += tied.grads[l][i] * tied.grads[l][i];
    }
  }
  EXPECT_NEAR(tied.norms.back(), std::sqrt(squares), 1e-12);
}

TEST(Tied, GradientIsTheSumOfBothUses) {
  const cases::Case tied = case_of(spec_of(true), 2);
  // The same weights without the tie: one gradient from the embedding, one from the head.
  const ModelStructure structure = model::make_structure(tied.model);
  const grading::reference::Reference expected = grading::reference::train_reference(tied);
  on_rank([&](Rank& rank) {
    OnDevice on(rank, structure, weights_of(tied));
    train_micro(rank, on, tied, cases::micro_of(tied, 0, 0), cases::tokens_of_step(tied));
    const Model& model = on.model;
    add(on.state.grads.front().part(model.tied(0)), on.state.grads.back().part(model.tied(3)));
    copy(on.state.grads.back().part(model.tied(3)), on.state.grads.front().part(model.tied(0)));
    expect_within(get_layers(on.state.grads), expected.grads, expected.grads_tolerance, "gradients");
  });
}

TEST(DividedStructure, ImpossiblePartsAreRefused) {
  EXPECT_THROW(model::make_part(spec_of(false), kHeads + 1, 0), std::invalid_argument);
  EXPECT_THROW(model::make_part(mlp(2, 4, 4, 2), 2, 0), std::invalid_argument);
  model::ModelSpec tied = mlp(2, 4, 4, 2);
  tied.tied = true;
  EXPECT_THROW(model::make_structure(tied), std::invalid_argument);
}

}  // namespace
}  // namespace shardlings::model_test

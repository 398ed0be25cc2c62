// A model cut into stages computes what the whole does, and holds what its layers hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/parts.h"
#include "front/model/on_model.h"
#include "model/memory.h"

namespace shardlings::model_test {
namespace {

using testing::HasSubstr;

/// A model on the device, cut into stages.
struct InStages {
  InStages(Rank& rank, const model::ModelStructure& structure, const cases::Case& kase, int count)
      : on(rank, structure, weights_of(kase)) {
    for (int i = 0; i < count; ++i) {
      const Range layers = part_of(on.model.num_layers(), count, i);
      stages.emplace_back(on.model, layers, Shape{kase.model.sequence, kase.batch}, on.state.weights, on.state.grads);
    }
  }

  OnDevice on;
  std::vector<Stage> stages;
};

void train_in_stages(Rank& rank, InStages& in, const cases::Case& kase, const cases::MicroData& data) {
  const std::size_t count = in.stages.size();
  std::vector<Tensor> x(count);
  std::vector<StageSaved> saved(count);
  Tensor y = inputs_of(rank, kase, data);
  for (std::size_t i = 0; i < count; ++i) {
    x[i] = std::move(y);
    EXPECT_EQ(x[i].shape(), in.stages[i].input_shape());
    y = in.stages[i].forward(x[i], &saved[i]);
    EXPECT_EQ(y.shape(), in.stages[i].output_shape());
    EXPECT_TRUE(saved[i]);
  }
  y = in.on.model.loss(std::move(y), targets_of(rank, kase, data), data.tokens, in.on.loss);
  for (std::size_t i = count; i-- > 0;) y = in.stages[i].backward(x[i], std::move(saved[i]), std::move(y));
}

/// The same with backward in two halves, the second of each stage after the first of all.
void train_in_halves(Rank& rank, InStages& in, const cases::Case& kase, const cases::MicroData& data) {
  const std::size_t count = in.stages.size();
  std::vector<Tensor> x(count);
  std::vector<StageSaved> saved(count);
  Tensor y = inputs_of(rank, kase, data);
  for (std::size_t i = 0; i < count; ++i) {
    x[i] = std::move(y);
    y = in.stages[i].forward(x[i], &saved[i]);
  }
  y = in.on.model.loss(std::move(y), targets_of(rank, kase, data), data.tokens, in.on.loss);
  for (std::size_t i = count; i-- > 0;) {
    y = in.stages[i].backward_input(x[i], saved[i], std::move(y));
    EXPECT_TRUE(saved[i]);
  }
  for (std::size_t i = 0; i < count; ++i) in.stages[i].backward_weights(x[i], std::move(saved[i]));
}

class Stages : public testing::TestWithParam<int> {};

TEST_P(Stages, ComputeWhatTheWholeModelDoes) {
  for (const model::ModelSpec& spec : {mlp(5, 9, 5, 4), gpt(3, 12, 3, 7, 5)}) {
    const cases::Case kase = case_of(spec, 3);
    const auto structure = model::make_structure(spec);
    const cases::MicroData data = cases::micro_of(kase, 0, 0);
    on_rank([&](Rank& rank) {
      OnDevice whole(rank, structure, weights_of(kase));
      train_micro(rank, whole, kase, data, data.tokens);
      InStages cut(rank, structure, kase, GetParam());
      EXPECT_TRUE(cut.stages.front().is_first() && cut.stages.back().is_last());
      EXPECT_EQ(cut.stages.front().is_last(), GetParam() == 1);
      train_in_stages(rank, cut, kase, data);
      EXPECT_EQ(get(cut.on.loss), get(whole.loss));
      EXPECT_EQ(get_layers(cut.on.state.grads), get_layers(whole.state.grads));
      InStages halves(rank, structure, kase, GetParam());
      for (Stage& stage : halves.stages) stage = GetParam() == 2 ? stage.recomputing() : stage;
      train_in_halves(rank, halves, kase, data);
      EXPECT_EQ(get_layers(halves.on.state.grads), get_layers(whole.state.grads));
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Numbers, Stages, testing::Range(1, 6));

TEST(StageMemory, IsThatOfItsLayersAndNothingIsLeft) {
  const cases::Case kase = case_of(gpt(3, 12, 3, 7, 5), 2);
  const auto structure = model::make_structure(kase.model);
  const Count tokens = kase.batch * kase.model.sequence;
  on_rank([&](Rank& rank) {
    InStages in(rank, structure, kase, 2);
    const Stage& stage = in.stages[1];  // block, head
    const Tensor x = rank.zeros(stage.input_shape(), Kind::activation);
    const auto live = [&] { return live_of(rank); };
    const Bytes before = live();
    StageSaved saved;
    Tensor y = stage.forward(x, &saved);
    Bytes held = output_bytes(structure.layers.back(), tokens);
    for (Count l = stage.layers().begin; l < stage.layers().end; ++l) {
      const auto& layer = structure.layers[static_cast<std::size_t>(l)];
      held += saved_bytes(layer, tokens, kase.batch);
      if (l > stage.layers().begin) held += input_bytes(layer, tokens);
    }
    EXPECT_EQ(live() - before, held);
    y = stage.backward(x, std::move(saved), std::move(y));
    EXPECT_EQ(live() - before, input_bytes(structure.layers[3], tokens)) << "the gradient of x";
    y = stage.forward(x, nullptr);
    EXPECT_EQ(live() - before, output_bytes(structure.layers.back(), tokens)) << "nothing is saved";
  });
}

TEST(StageMemory, BetweenTheHalvesIsWhatTheWeightsNeed) {
  const cases::Case kase = case_of(gpt(3, 12, 3, 7, 5), 2);
  const auto structure = model::make_structure(kase.model);
  const Count tokens = kase.batch * kase.model.sequence;
  on_rank([&](Rank& rank) {
    InStages in(rank, structure, kase, 1);
    const Stage& stage = in.stages[0];
    const Tensor x = inputs_of(rank, kase, cases::micro_of(kase, 0, 0));
    const Bytes before = live_of(rank);
    StageSaved saved;
    Tensor y = stage.forward(x, &saved);
    y = stage.backward_input(x, saved, std::move(y));
    Bytes held;
    for (const model::LayerStructure& layer : structure.layers) held += kept_bytes(layer, tokens);
    EXPECT_EQ(live_of(rank) - before, held) << "no input of a block or the head";
    stage.backward_weights(x, std::move(saved));
    EXPECT_EQ(live_of(rank) - before, Bytes(0));
  });
}

TEST(StageRecomputing, GivesTheSameGradientsAndKeepsInputsOnly) {
  const cases::Case kase = case_of(gpt(3, 12, 3, 7, 5), 2);
  const auto structure = model::make_structure(kase.model);
  const cases::MicroData data = cases::micro_of(kase, 0, 0);
  const Count tokens = kase.batch * kase.model.sequence;
  on_rank([&](Rank& rank) {
    OnDevice whole(rank, structure, weights_of(kase));
    train_micro(rank, whole, kase, data, data.tokens);
    InStages in(rank, structure, kase, 1);
    const Stage stage = in.stages[0].recomputing();
    const Tensor x = inputs_of(rank, kase, data);
    const Bytes before = live_of(rank);
    StageSaved saved;
    Tensor y = stage.forward(x, &saved);
    Bytes held = output_bytes(structure.layers.back(), tokens);
    for (std::size_t l = 1; l < structure.layers.size(); ++l) held += input_bytes(structure.layers[l], tokens);
    EXPECT_EQ(live_of(rank) - before, held);
    y = in.on.model.loss(std::move(y), targets_of(rank, kase, data), data.tokens, in.on.loss);
    stage.backward(x, std::move(saved), std::move(y));
    EXPECT_EQ(get_layers(in.on.state.grads), get_layers(whole.state.grads));
    EXPECT_EQ(live_of(rank) - before, Bytes(0));
  });
}

TEST(StageMisuse, IsToldWithItsLine) {
  const cases::Case kase = case_of(mlp(4, 9, 9, 4), 3);
  const auto structure = model::make_structure(kase.model);
  const auto error = [&](auto body) {
    return error_of([&](Rank& rank) {
      InStages in(rank, structure, kase, 2);
      const Tensor x = rank.zeros(in.stages[0].input_shape(), Kind::activation);
      body(in, x);
    });
  };
  const std::string empty =
      error([](InStages& in, const Tensor& x) { in.stages[1].backward(x, StageSaved(), clone(x)); });
  EXPECT_THAT(empty, HasSubstr("stage_test.cpp:"));
  EXPECT_THAT(empty, HasSubstr("backward of the stage of layers 2 to 3: the StageSaved is empty"));
  const std::string other = error([](InStages& in, const Tensor& x) {
    StageSaved saved;
    in.stages[0].forward(x, &saved);
    in.stages[1].backward(x, std::move(saved), clone(x));
  });
  EXPECT_THAT(other, HasSubstr("the Saved is that of layer 1"));
  const std::string beyond = error([](InStages& in, const Tensor&) {
    const Stage stage(in.on.model, {3, 5}, {4, 3}, in.on.state.weights, in.on.state.grads);
  });
  EXPECT_THAT(beyond, HasSubstr("stage_test.cpp:"));
  EXPECT_THAT(beyond, HasSubstr(": a stage of layers [3, 5): the model has layers 0 to 3"));
  const std::string short_lists = error([](InStages& in, const Tensor&) {
    std::vector<Tensor> grads(3);
    const Stage stage(in.on.model, {2, 4}, {4, 3}, in.on.state.weights, grads);
  });
  EXPECT_THAT(short_lists, HasSubstr("looks for weights[3] and grads[3]"));
  const std::string too_early = error([](InStages& in, const Tensor& x) {
    std::vector<Tensor> grads(4);
    const Stage stage(in.on.model, {2, 4}, {4, 3}, in.on.state.weights, grads);
    StageSaved saved;
    Tensor y = stage.forward(x, &saved);
    stage.backward(x, std::move(saved), std::move(y));
  });
  EXPECT_THAT(too_early, HasSubstr("grads[2] was empty when the stage was made"));
  const std::string unmade = error([](InStages&, const Tensor& x) { Stage().forward(x, nullptr); });
  EXPECT_THAT(unmade, HasSubstr("stage_test.cpp:"));
  EXPECT_THAT(unmade, HasSubstr(": this Stage was default-constructed: it has no layers"));
  EXPECT_THAT(short_lists, HasSubstr("there are 4 tensors of weights and 3 of gradients"));
}

}  // namespace
}  // namespace shardlings::model_test

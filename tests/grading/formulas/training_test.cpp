// What the graders of training steps share: bytes of layers by hand, and telling tensors apart.

#include "grading/formulas/training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace shardlings::grading {
namespace {

cases::Case perceptron() {
  cases::Case kase;
  kase.model.family = model::ModelSpec::Family::mlp;
  kase.model.layers = 2;
  kase.model.hidden = 3;
  kase.model.outputs = 2;
  kase.model.sequence = 5;
  kase.batch = 2;
  kase.micro_batches = 4;
  return kase;
}

TEST(LayerBytes, OfAPerceptronAreThoseOfTheTextbook) {
  const std::vector<formulas::LayerBytes> layers = formulas::layer_bytes(perceptron());
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].weights, 4 * (3 * 3 + 3));
  EXPECT_EQ(layers[0].input, 4 * 10 * 3);
  EXPECT_EQ(layers[0].saved, 4 * 10 * 3) << "the input of the GELU";
  EXPECT_EQ(layers[0].input_gradient, 4 * 10 * 3);
  EXPECT_EQ(layers[0].backward, 3 * 4 * 10 * 3) << "saved, the gradient that comes in and the one behind the GELU";
  EXPECT_EQ(layers[1].weights, 4 * (2 * 3 + 2));
  EXPECT_EQ(layers[1].output, 4 * 10 * 2);
  EXPECT_EQ(layers[1].saved, 0);
  EXPECT_EQ(formulas::weight_bytes(layers), 4 * (12 + 8));
}

TEST(LayerBytes, TokenIdsHaveNoGradient) {
  cases::Case kase = perceptron();
  kase.model.family = model::ModelSpec::Family::gpt;
  kase.model.hidden = 4;
  const std::vector<formulas::LayerBytes> layers = formulas::layer_bytes(kase);
  ASSERT_EQ(layers.size(), 4U) << "embedding, two blocks, head";
  EXPECT_EQ(layers[0].input, 4 * 10);
  EXPECT_EQ(layers[0].input_gradient, 0);
  EXPECT_EQ(layers[1].input_gradient, 4 * 10 * 4);
}

TEST(BatchBytes, AreInputsAndTargetsOfAllMicroBatches) {
  EXPECT_EQ(formulas::batch_bytes(perceptron()), 4 * (4 * 10 * 3 + 4 * 10));
}

TEST(Letters, StandForTheCasesNumbers) {
  cases::Case kase = perceptron();
  kase.cluster.table.forward = Nanos(10);
  kase.cluster.table.backward = Nanos(25);
  const formulas::Letters letter(kase);
  EXPECT_EQ((letter.m * letter.l * (letter.f + letter.b)).text(), "m L (F + B) = 4 x 2 x (10 ns + 25 ns)");
  EXPECT_EQ(letter.n.value(), kase.ranks);
}

TEST(InAllSteps, NamesThemWhereThereAreSeveral) {
  cases::Case kase = perceptron();
  const judge::Formula<Bytes> step = judge::named("W", Bytes(8)) + judge::named("one number", Bytes(4));
  EXPECT_EQ(formulas::in_all_steps(kase, step).text(), "W + one number = 8 + 4");
  kase.steps = 3;
  EXPECT_EQ(formulas::in_all_steps(kase, step).text(), "steps x (W + one number) = 3 x (8 + 4)");
}

TEST(FoundLayers, EndWhereANumberIsMissing) {
  wire::Result result;
  result.outputs["grads.0"].values = {1, 2};
  result.outputs["grads.2"].values = {3};
  EXPECT_EQ(formulas::found_layers(result, "grads"), (reference::Layers{{1, 2}}));
  EXPECT_TRUE(formulas::found_layers(result, "weights").empty());
}

TEST(LayersOfRank, AreItsReplicaWhereTheyDiffer) {
  wire::Result result;
  result.outputs["grads.0"].values = {1, 2};
  result.outputs["grads.0"].replicas = {{1, 2}, {3, 4}};
  result.outputs["grads.1"].values = {5};
  EXPECT_EQ(formulas::layers_of_rank(result, "grads", 0), (reference::Layers{{1, 2}, {5}}));
  EXPECT_EQ(formulas::layers_of_rank(result, "grads", 1), (reference::Layers{{3, 4}, {5}}));
}

TEST(Likeness, AllowsAHundredth) {
  const reference::Layers a{{3, 4}, {12}};
  EXPECT_TRUE(formulas::alike(a, formulas::scaled(a, 1.00009)));
  EXPECT_FALSE(formulas::alike(a, formulas::scaled(a, 1.0002)));
  EXPECT_TRUE(formulas::alike(a, formulas::scaled(a, 1.009), formulas::kAlikeInBf16));
  EXPECT_FALSE(formulas::alike(a, {{3, 4}})) << "another number of layers";
  EXPECT_FALSE(formulas::alike({{0, 0}, {0}}, a));
}

TEST(Likeness, OfNaNIsNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(formulas::alike({{nan}}, reference::Layers{{1}}));
  EXPECT_FALSE(formulas::all_finite({{1}, {nan}}));
  EXPECT_EQ(formulas::constant_ratio({{nan}}, {{1}}), std::nullopt);
}

TEST(ConstantRatio, IsFoundOrRefused) {
  const reference::Layers b{{1, -2}, {3}};
  EXPECT_TRUE(formulas::near(formulas::constant_ratio(formulas::scaled(b, -2.5), b), -2.5));
  EXPECT_EQ(formulas::constant_ratio(formulas::scaled(b, 0), b), 0.0);
  EXPECT_EQ(formulas::constant_ratio({{1, 2}, {3}}, b), std::nullopt) << "one sign differs";
  EXPECT_EQ(formulas::constant_ratio(b, formulas::scaled(b, 0)), std::nullopt);
  EXPECT_FALSE(formulas::near(std::nullopt, 0));
}

TEST(Combine, RefusesDifferentSizes) {
  EXPECT_EQ(formulas::combine({{1, 2}}, 3, {{1, 1}}), (reference::Layers{{4, 5}}));
  EXPECT_TRUE(formulas::combine({{1, 2}}, 3, {{1}}).empty());
}

}  // namespace
}  // namespace shardlings::grading

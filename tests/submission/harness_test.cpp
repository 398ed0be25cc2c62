// Loading by the harness: whole layers, stretches, rectangles, divided states; only what was asked for is allocated.
// And publishing of what is divided.
#include "submission/harness.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "base/parts.h"
#include "case/data.h"
#include "submission/wire/output_pack.h"
#include "world/world.h"

namespace shardlings::grading {
namespace {

cases::Case small_case() {
  cases::Case kase;
  kase.puzzle = "test";
  kase.model.layers = 2;
  kase.model.hidden = 6;
  kase.model.outputs = 5;
  kase.model.sequence = 2;
  return kase;
}

front::RunReport with_harness(const std::function<void(submission::Harness&)>& body) {
  const cases::Case kase = small_case();
  return world::run({}, [&](Rank& rank) {
    submission::Harness harness(rank, kase);
    body(harness);
  });
}

std::vector<float> published(const front::RunReport& report) {
  return report.ranks.at(0).published.at(0).values;
}

TEST(HarnessWeights, AStretchIsThatPartOfTheLayer) {
  const auto report = with_harness([](submission::Harness& h) { h.put("part", h.weights(0, {5, 17})); });
  ASSERT_FALSE(report.failure) << report.failure->message;
  const std::vector<float> all = cases::weights_of(small_case(), 0);
  EXPECT_EQ(published(report), std::vector<float>(all.begin() + 5, all.begin() + 17));
  EXPECT_EQ(report.ranks[0].counters.peak.value(), 12 * 4);  // never the whole layer
}

TEST(HarnessWeights, ARectangleIsCutFromTheMatrixOfThatName) {
  std::string name;
  Range range;
  const auto report = with_harness([&](submission::Harness& h) {
    const Entry matrix = h.model().entries(1).front();
    name = matrix.name;
    range = matrix.range;
    h.put("part", h.weights(1, name, {1, 4}, {2, 5}));
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  const std::vector<float> all = cases::weights_of(small_case(), 1);
  std::vector<float> expected;
  for (Count row = 1; row < 4; ++row) {
    for (Count col = 2; col < 5; ++col) expected.push_back(all[static_cast<std::size_t>(range.begin + row * 6 + col)]);
  }
  EXPECT_EQ(published(report), expected);
  EXPECT_EQ(report.ranks[0].counters.peak.value(), 9 * 4);
}

TEST(HarnessWeights, TheWholeLayerIsAllOfIt) {
  const auto report = with_harness([](submission::Harness& h) { h.put("all", h.weights(1)); });
  ASSERT_FALSE(report.failure);
  EXPECT_EQ(published(report), cases::weights_of(small_case(), 1));
}

TEST(HarnessWeights, PartsThatDoNotExistAreErrors) {
  for (const Range range : {Range{-1, 3}, Range{0, 100000}, Range{4, 2}}) {
    const auto report = with_harness([&](submission::Harness& h) { h.weights(0, range); });
    ASSERT_TRUE(report.failure);
    EXPECT_NE(report.failure->message.find("layer 0 has"), std::string::npos) << report.failure->message;
  }
  const auto report = with_harness([](submission::Harness& h) { h.weights(0, "no such matrix", {0, 1}, {0, 1}); });
  ASSERT_TRUE(report.failure);
  EXPECT_NE(report.failure->message.find("no such matrix"), std::string::npos);
  for (const Rectangle part : {Rectangle{{3, 1}, {0, 1}}, Rectangle{{0, 1}, {5, 2}}, Rectangle{{-1, 1}, {0, 1}}}) {
    const auto reversed =
        with_harness([&](submission::Harness& h) { h.weights(1, h.model().entries(1)[0].name, part.rows, part.cols); });
    ASSERT_TRUE(reversed.failure);
    EXPECT_NE(reversed.failure->message.find("layer 1 has no rows"), std::string::npos) << reversed.failure->message;
  }
}

TEST(HarnessNormals, RowsThatDoNotExistAreErrors) {
  for (const Range rows : {Range{-1, 3}, Range{0, 6}, Range{3, 1}}) {
    const auto report = with_harness([&](submission::Harness& h) { h.normals(3, {5, 2, 3}, rows, Kind::activation); });
    ASSERT_TRUE(report.failure);
    EXPECT_NE(report.failure->message.find("normals: there are 5 rows"), std::string::npos) << report.failure->message;
  }
}

TEST(HarnessLinear, HoldsARectangleTheBiasOfItsRowsAndZeroGradients) {
  const auto report = with_harness([](submission::Harness& h) {
    submission::LinearShard shard = h.linear(1, "", {{1, 4}, {2, 6}});
    const Linear linear = shard.linear();
    EXPECT_EQ(linear.weight.shape(), Shape({3, 4}));
    EXPECT_EQ(linear.bias.shape(), Shape(3));
    EXPECT_EQ(linear.grad_weight.shape(), Shape({3, 4}));
    h.put("bias", linear.bias);
    add(linear.grad_bias, linear.bias);
    h.put_gradients("g", shard);
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  EXPECT_EQ(report.ranks[0].counters.peak.value(), 2 * (3 * 4 + 3) * 4) << "never the whole matrix";
  const auto& published = report.ranks[0].published;
  ASSERT_EQ(published.size(), 3U);
  const std::vector<float> all = cases::weights_of(small_case(), 1);
  const auto bias = all.end() - 5;  // the last entry
  EXPECT_EQ(published[0].values, std::vector<float>(bias + 1, bias + 4));
  EXPECT_EQ(published[1].name, "g.weight");
  EXPECT_EQ(published[1].values, std::vector<float>(12, 0.0F));
  EXPECT_EQ(published[1].place.rows, 5);
  EXPECT_EQ(published[1].place.part.cols, (Range{2, 6}));
  EXPECT_EQ(published[2].name, "g.bias");
  EXPECT_EQ(published[2].values, published[0].values);
  EXPECT_EQ(published[2].place.part.rows, (Range{1, 4}));
}

TEST(HarnessChoice, OutsideOfTheExtentIsRefusedByName) {
  EXPECT_NO_THROW(submission::Harness::check_choice("mine", "rows", {0, 4}, 4));
  EXPECT_NO_THROW(submission::Harness::check_choice("mine", "rows", {4, 4}, 4)) << "empty";
  for (const Range range : {Range{-1, 2}, Range{0, 5}, Range{3, 2}}) {
    EXPECT_THROW(submission::Harness::check_choice("mine", "rows", range, 4), InvalidArgument);
  }
  try {
    submission::Harness::check_choice("mine", "rows", {0, 5}, 4);
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "mine returns rows [0, 5), but there are only [0, 4)");
  }
}

TEST(HarnessNormals, AreThoseOfTheCase) {
  const auto report = with_harness([](submission::Harness& h) { h.put("x", h.normals(3, {2, 3}, Kind::activation)); });
  ASSERT_FALSE(report.failure);
  EXPECT_EQ(published(report), cases::normals_of(small_case(), 3, 6));
  EXPECT_NE(published(report), cases::normals_of(small_case(), 2, 6));
}

TEST(HarnessNormals, RowsArePartOfTheWhole) {
  const auto report = with_harness([](submission::Harness& h) {
    const Tensor rows = h.normals(3, {5, 2, 3}, {1, 3}, Kind::activation);
    EXPECT_EQ(rows.shape(), Shape({2, 2, 3}));
    h.put("x", rows);
  });
  ASSERT_FALSE(report.failure);
  const std::vector<float> all = cases::normals_of(small_case(), 3, 30);
  EXPECT_EQ(published(report), std::vector<float>(all.begin() + 6, all.begin() + 18));
  EXPECT_EQ(report.ranks[0].counters.peak.value(), 12 * 4) << "never the whole";
}

TEST(HarnessBatch, HasTheTokensThatEveryRankKnowsOf) {
  cases::Case kase = small_case();
  kase.ranks = 4;
  kase.batches = 2;
  kase.micro_batches = 3;
  kase.uneven_tokens = true;
  world::Options options;
  options.ranks = kase.ranks;
  const auto report = world::run(options, [&](Rank& rank) {
    submission::Harness h(rank, kase);
    const Batch batch = h.batch();
    for (int micro = 0; micro < 3; ++micro) EXPECT_EQ(h.tokens_of(rank.id(), micro), batch.micro(micro).tokens);
    for (int other = 0; other < 4; ++other) {
      for (int micro = 0; micro < 3; ++micro) {
        EXPECT_EQ(h.tokens_of(other, micro), cases::tokens_of_micro(kase, other / 2, micro));
      }
    }
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

TEST(HarnessBatch, IsTheOneThatWasChosen) {
  const auto report = with_harness([](submission::Harness& h) {
    const Batch batch = h.batch({.targets = false, .which = 2});
    EXPECT_FALSE(batch.targets);
    h.put("x", batch.inputs);
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  EXPECT_EQ(published(report), cases::micro_of(small_case(), 2, 0).inputs);
  EXPECT_NE(published(report), cases::micro_of(small_case(), 0, 0).inputs);
}

/// A training state on several ranks, some of it divided; what was published, put together.
class DividedState : public testing::TestWithParam<int> {
 protected:
  static cases::Case adam_case() {
    cases::Case kase = small_case();
    kase.model.optimizer = model::ModelSpec::Optimizer::adam;
    return kase;
  }
  front::RunReport run(const std::function<void(submission::Harness&)>& body) {
    world::Options options;
    options.ranks = GetParam();
    const cases::Case kase = adam_case();
    front::RunReport report = world::run(options, [&](Rank& rank) {
      submission::Harness harness(rank, kase);
      body(harness);
    });
    if (report.failure) ADD_FAILURE() << report.failure->message;
    return report;
  }
  static Count held_by(int rank, int layer, bool is_divided) {
    const Count whole = model::make_structure(adam_case().model).layers[static_cast<std::size_t>(layer)].range.size();
    return is_divided ? part_of(whole, GetParam(), rank).size() : whole;
  }
  static std::map<std::string, wire::Output> outputs_of(front::RunReport& report) {
    std::vector<std::vector<front::Published>> by_rank;
    for (front::RankReport& rank : report.ranks) by_rank.push_back(rank.published);
    return wire::assemble(by_rank);
  }
};

TEST_P(DividedState, HoldsEachRanksPartsOnly) {
  const submission::Divided choices[] = {
      {}, {.optimizer = true}, {.grads = true, .optimizer = true}, {true, true, true}};
  for (const submission::Divided divided : choices) {
    const auto report = run([&](submission::Harness& h) {
      const TrainState state = h.state({.divided = divided});
      for (std::size_t l = 0; l < 2; ++l) {
        const auto held = [&](bool is_divided) { return held_by(h.rank().id(), static_cast<int>(l), is_divided); };
        EXPECT_EQ(state.weights[l].size(), held(divided.weights));
        EXPECT_EQ(state.grads[l].size(), held(divided.grads));
        EXPECT_EQ(state.optimizer[l].m.size(), held(divided.optimizer));
        EXPECT_EQ(state.optimizer[l].v.size(), held(divided.optimizer));
      }
    });
    for (int rank = 0; rank < GetParam(); ++rank) {
      Count elements = 0;
      for (int l = 0; l < 2; ++l) {
        elements += held_by(rank, l, divided.weights) + held_by(rank, l, divided.grads) +
                    2 * held_by(rank, l, divided.optimizer);
      }
      EXPECT_EQ(report.ranks[static_cast<std::size_t>(rank)].counters.peak, Bytes(4 * elements)) << "never more";
    }
  }
}

TEST_P(DividedState, IsPublishedInParts) {
  for (const bool divided : {false, true}) {
    auto report = run([&](submission::Harness& h) {
      const TrainState state = h.state({.divided = {.weights = divided}});
      h.put_parts("weights", state.weights, h.rank().world());
    });
    const auto outputs = outputs_of(report);
    for (int l = 0; l < 2; ++l) {
      const wire::Output& output = outputs.at("weights." + std::to_string(l));
      EXPECT_TRUE(output.complete);
      EXPECT_EQ(output.conflict, "");
      EXPECT_EQ(output.values, cases::weights_of(adam_case(), l));
    }
  }
}

TEST_P(DividedState, MomentsOfAllRanksMakeTheWhole) {
  auto report = run([](submission::Harness& h) {
    TrainState state = h.state({.divided = {.optimizer = true}});
    for (OptimizerState& optimizer : state.optimizer) {
      fill(optimizer.m, static_cast<float>(h.rank().id()));
      fill(optimizer.v, static_cast<float>(10 + h.rank().id()));
    }
    h.put_moments(state.optimizer, h.rank().world());
  });
  const auto outputs = outputs_of(report);
  const std::vector<float>& m = outputs.at("m.0").values;
  const auto size = static_cast<Count>(m.size());
  EXPECT_EQ(size, 42);
  for (int rank = 0; rank < GetParam(); ++rank) {
    const Range part = part_of(size, GetParam(), rank);
    for (Count i = part.begin; i < part.end; ++i) {
      EXPECT_EQ(m[static_cast<std::size_t>(i)], static_cast<float>(rank));
      EXPECT_EQ(outputs.at("v.0").values[static_cast<std::size_t>(i)], static_cast<float>(10 + rank));
    }
  }
}

TEST_P(DividedState, TensorsOfAnotherSizeDoNotFit) {
  auto report = run([](submission::Harness& h) {
    std::vector<Tensor> grads;
    grads.push_back(h.rank().zeros(7, Kind::gradient));
    grads.emplace_back();
    h.put_parts("grads", grads, h.rank().world());
  });
  const auto outputs = outputs_of(report);
  EXPECT_EQ(outputs.at("grads.0").values.size(), 7U);
  EXPECT_FALSE(outputs.contains("grads.1")) << "an empty tensor is missing";
}

TEST_P(DividedState, WhatARankHasLostIsMissing) {
  auto report = run([](submission::Harness& h) {
    TrainState state = h.state();
    if (h.rank().id() == 0) {
      state.weights[1] = {};
      state.grads.clear();
      state.optimizer[0].m = {};
    }
    h.put_layers("weights", state.weights);
    h.put_layers("grads", state.grads);
    h.put_moments(state.optimizer, h.rank().world());
    h.put("whole", h.rank().id() == 0 ? ConstView() : ConstView(state.weights[0]));
  });
  const auto outputs = outputs_of(report);
  EXPECT_EQ(outputs.at("weights.0").conflict, "");
  if (GetParam() == 1) {
    EXPECT_FALSE(outputs.contains("weights.1"));
    return;
  }
  for (const char* name : {"weights.1", "grads.0", "grads.1", "m.0", "whole"}) {
    EXPECT_EQ(outputs.at(name).conflict, "nothing on rank 0: its tensor is empty") << name;
    EXPECT_FALSE(outputs.at(name).complete) << name;
  }
}

// A stage of a pipeline has some layers only.
TEST_P(DividedState, LayersThatARankNeverHadAreNotMissing) {
  auto report = run([](submission::Harness& h) {
    const TrainState state = h.state({.layers = {part_of(2, h.rank().size(), h.rank().id())}});
    h.put_layers("weights", state.weights);
    h.put_parts("grads", state.grads, h.rank().world().split(h.rank().id(), 0, "mine"));
  });
  for (const auto& [name, output] : outputs_of(report)) {
    EXPECT_TRUE(output.complete) << name;
    EXPECT_EQ(output.conflict, "") << name;
  }
}

TEST_P(DividedState, IsClearedWhereItIsStillThere) {
  auto report = run([](submission::Harness& h) {
    TrainState state = h.state({.divided = {.grads = true}});
    fill(state.grads[0], 3);
    state.grads[1] = {};
    h.clear(state.grads);
    h.put_parts("grads", state.grads, h.rank().world());
  });
  EXPECT_EQ(outputs_of(report).at("grads.0").values, std::vector<float>(42, 0));
}

/// A GPT whose layers are divided over `t` ranks, and whose optimizer is divided over the others.
class DividedLayers : public testing::TestWithParam<int> {};

TEST_P(DividedLayers, ArePublishedWhereTheyLieInTheWhole) {
  const int t = GetParam(), d = 3;
  cases::Case kase = small_case();
  kase.model.family = model::ModelSpec::Family::gpt;
  kase.model.hidden = 12;
  kase.model.heads = 4;
  kase.model.optimizer = model::ModelSpec::Optimizer::adam;
  world::Options options;
  options.ranks = t * d;
  const front::RunReport report = world::run(options, [&](Rank& rank) {
    submission::Harness h(rank, kase);
    const Group tp = rank.world().split(rank.id() / t, rank.id(), "tp"),
                dp = rank.world().split(rank.id() % t, 0, "dp");
    h.divide_layers(tp);
    TrainState state = h.state({.layers = {{1, 4}}, .group = dp, .divided = {.optimizer = true}});
    EXPECT_FALSE(state.weights[0]);
    EXPECT_EQ(state.optimizer[2].m.size(), dp.mine(h.model().size(2)).size());
    for (int l = 1; l < 4; ++l)
      copy(state.optimizer[static_cast<std::size_t>(l)].m, h.weights(l, dp.mine(h.model().size(l))));
    h.put_parts("weights", state.weights, dp);
    h.put_moments(state.optimizer, dp);
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  std::vector<std::vector<front::Published>> by_rank;
  for (const front::RankReport& rank : report.ranks) by_rank.push_back(rank.published);
  const auto outputs = wire::assemble(by_rank);
  for (int l = 1; l < 4; ++l) {
    for (const char* name : {"weights.", "m."}) {
      const wire::Output& output = outputs.at(name + std::to_string(l));
      EXPECT_TRUE(output.complete);
      EXPECT_EQ(output.conflict, "");
      EXPECT_EQ(output.values, cases::weights_of(kase, l));
    }
  }
}

TEST(DividedLayersOfAnMlp, AreRefused) {
  world::Options options;
  options.ranks = 2;
  const cases::Case kase = small_case();
  const auto report =
      world::run(options, [&](Rank& rank) { submission::Harness(rank, kase).divide_layers(rank.world()); });
  ASSERT_TRUE(report.failure);
  EXPECT_NE(report.failure->message.find("only the layers of a gpt"), std::string::npos) << report.failure->message;
}

INSTANTIATE_TEST_SUITE_P(Ranks, DividedLayers, testing::Range(1, 5));

// With 50 ranks some have no part of a layer at all.
INSTANTIATE_TEST_SUITE_P(Ranks, DividedState, testing::Values(1, 2, 3, 4, 8, 50));

}  // namespace
}  // namespace shardlings::grading

// The runtime's layers against the judge's double precision training, and what they count and label.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "api/access.h"
#include "base/random.h"
#include "front/model/on_model.h"
#include "front/model/saved_table.h"
#include "grading/reference/reference.h"

namespace shardlings::model_test {
namespace {

using front::EventKind;

void expect_reference(const cases::Case& kase) {
  const grading::reference::Reference expected = grading::reference::train_reference(kase);
  const auto structure = model::make_structure(kase.model);
  on_rank([&](Rank& rank) {
    OnDevice on(rank, structure, weights_of(kase));
    for (int step = 0; step < kase.steps; ++step) {
      for (Tensor& grad : on.state.grads) fill(grad, 0);
      fill(on.loss, 0);
      for (int micro = 0; micro < kase.micro_batches; ++micro) {
        train_micro(rank, on, kase, cases::micro_of(kase, 0, micro), cases::tokens_of_step(kase));
      }
      update(rank, on, kase.model.clip);
    }
    EXPECT_NEAR(static_cast<double>(get(on.loss)[0]), expected.loss, expected.loss_tolerance / 4);
    const auto quarter = [](Layers tolerance) {
      for (auto& layer : tolerance) {
        for (double& value : layer) value /= 4;
      }
      return tolerance;
    };
    expect_within(get_layers(on.state.grads), expected.grads, quarter(expected.grads_tolerance), "gradient");
    expect_within(get_layers(on.state.weights), expected.weights, quarter(expected.weights_tolerance), "weights");
    if (kase.model.optimizer == model::ModelSpec::Optimizer::sgd) return;
    for (std::size_t l = 0; l < expected.m.size(); ++l) {
      const auto found = [&](const Tensor& moment) {
        const std::vector<float> values = get(moment);
        return Layers{{values.begin(), values.end()}};
      };
      const OptimizerState& optimizer = on.state.optimizer[l];
      expect_within(found(optimizer.m), {expected.m[l]}, quarter({expected.m_tolerance[l]}), "first moment");
      expect_within(found(optimizer.v), {expected.v[l]}, quarter({expected.v_tolerance[l]}), "second moment");
    }
  });
}

/// Sizes from a seed, odd ones included.
class RandomSizes : public testing::TestWithParam<int> {
 protected:
  Count between(Count first, Count last) {
    const auto width = static_cast<std::uint32_t>(last - first + 1);
    return first + below_at(width, static_cast<std::uint64_t>(GetParam()), next_++);
  }

 private:
  std::uint64_t next_ = 0;
};

TEST_P(RandomSizes, MlpTrainsLikeTheReference) {
  const auto layers = static_cast<int>(between(1, 4));
  const Count hidden = between(1, 21), outputs = between(2, 13), sequence = between(1, 7);
  cases::Case kase = case_of(mlp(layers, hidden, outputs, sequence), between(1, 5), 2);
  kase.uneven_tokens = GetParam() % 2 == 0;
  kase.seed = static_cast<std::uint64_t>(GetParam());
  kase.steps = 2;
  expect_reference(kase);
}

TEST_P(RandomSizes, GptTrainsLikeTheReference) {
  const auto layers = static_cast<int>(between(1, 3)), heads = static_cast<int>(between(1, 3));
  const Count hidden = heads * between(2, 9), vocabulary = between(2, 19), sequence = between(1, 9);
  cases::Case kase = case_of(gpt(layers, hidden, heads, vocabulary, sequence), between(1, 4), 2);
  kase.uneven_tokens = GetParam() % 2 == 1;
  kase.seed = static_cast<std::uint64_t>(GetParam());
  kase.steps = 2;
  expect_reference(kase);
}

INSTANTIATE_TEST_SUITE_P(Sizes, RandomSizes, testing::Range(1, 13));

TEST(Model, AdamTrainsLikeTheReference) {
  cases::Case kase = case_of(gpt(1, 12, 2, 9, 5), 3);
  kase.model.optimizer = model::ModelSpec::Optimizer::adam;
  kase.model.lr = 0.01F;
  kase.steps = 3;
  expect_reference(kase);
}

TEST_P(RandomSizes, LayersOfUnequalSizeTrainLikeTheReference) {
  model::ModelSpec spec = mlp(static_cast<int>(between(2, 5)), between(1, 13), between(2, 9), between(1, 6));
  for (int l = 0; l + 1 < spec.layers; ++l) spec.widths.push_back(between(1, 23));
  cases::Case kase = case_of(spec, between(1, 4), 2);
  kase.seed = static_cast<std::uint64_t>(GetParam());
  expect_reference(kase);
}

TEST_P(RandomSizes, ClippedStepsAreThoseOfTheReference) {
  model::ModelSpec spec = mlp(static_cast<int>(between(1, 3)), between(2, 13), between(2, 9), between(1, 6));
  spec.optimizer = GetParam() % 2 == 0 ? model::ModelSpec::Optimizer::adam : model::ModelSpec::Optimizer::sgd;
  spec.lr = 0.05F;
  cases::Case kase = case_of(spec, between(1, 4));
  kase.seed = static_cast<std::uint64_t>(GetParam());
  kase.steps = 3;
  const double norm = grading::reference::train_reference(kase).norms.front();
  kase.model.clip = static_cast<float>(norm * (GetParam() % 3 == 0 ? 2 : 0.3));  // now and then it changes nothing
  expect_reference(kase);
}

TEST(Model, RecomputedBackwardIsEqualBitByBit) {
  for (const model::ModelSpec& spec : {mlp(3, 9, 5, 4), gpt(2, 10, 2, 7, 5)}) {
    const cases::Case kase = case_of(spec, 3);
    const auto structure = model::make_structure(spec);
    std::array<Layers, 2> grads;
    for (const bool recompute : {false, true}) {
      on_rank([&](Rank& rank) {
        OnDevice on(rank, structure, weights_of(kase));
        train_micro(rank, on, kase, cases::micro_of(kase, 0, 0), cases::tokens_of_step(kase), recompute);
        grads[recompute ? 1 : 0] = get_layers(on.state.grads);
      });
    }
    EXPECT_EQ(grads[0], grads[1]);
  }
}

TEST(Model, BackwardAddsToGradients) {
  const cases::Case kase = case_of(gpt(1, 8, 2, 7, 5), 3);
  const auto structure = model::make_structure(kase.model);
  on_rank([&](Rank& rank) {
    OnDevice on(rank, structure, weights_of(kase));
    const auto data = cases::micro_of(kase, 0, 0);
    train_micro(rank, on, kase, data, data.tokens);
    Layers twice = get_layers(on.state.grads);
    for (auto& layer : twice) {
      for (double& value : layer) value *= 2;
    }
    train_micro(rank, on, kase, data, data.tokens);
    expect_close(get_layers(on.state.grads), twice, 1e-6, "gradient");
  });
}

TEST(Model, ShorterSequencesUseTheFirstPositions) {
  const model::ModelSpec spec = gpt(1, 8, 2, 7, 6);
  const auto structure = model::make_structure(spec);
  cases::Case kase = case_of(spec, 2);
  on_rank([&](Rank& rank) {
    OnDevice on(rank, structure, weights_of(kase));
    kase.model.sequence = 4;
    const auto data = cases::micro_of(kase, 0, 0);
    train_micro(rank, on, kase, data, data.tokens);
    const std::vector<float> grads = get(on.state.grads[0]);
    const Range positions = entry_of(structure.layers[0], "position").range;
    for (Count i = 0; i < positions.size(); ++i) {
      EXPECT_EQ(grads[static_cast<std::size_t>(positions.begin + i)] != 0, i < 4 * spec.hidden) << i;
    }
  });
}

TEST(Model, UpdateOfARangeIsThatRangeOfTheUpdate) {
  cases::Case kase = case_of(mlp(1, 6, 5, 3), 2);
  kase.model.optimizer = model::ModelSpec::Optimizer::adam;
  const auto structure = model::make_structure(kase.model);
  on_rank([&](Rank& rank) {
    OnDevice whole(rank, structure, weights_of(kase)), parts(rank, structure, weights_of(kase));
    fill(whole.state.grads[0], 0.5F);
    fill(parts.state.grads[0], 0.5F);
    whole.model.update(0, whole.state.weights[0], whole.state.grads[0], whole.state.optimizer[0]);
    for (const Range range : {Range{0, 11}, Range{11, structure.total}}) {
      OptimizerState state;
      state.m = rank.zeros(range.size(), Kind::optimizer);
      state.v = rank.zeros(range.size(), Kind::optimizer);
      parts.model.update(0, parts.state.weights[0].part(range), parts.state.grads[0].part(range), state);
      EXPECT_EQ(state.step, 1);
    }
    EXPECT_EQ(get(whole.state.weights[0]), get(parts.state.weights[0]));
  });
}

TEST(Model, WeightsAndGradientsMayBePartsOfOneTensor) {
  const cases::Case kase = case_of(mlp(2, 6, 5, 3), 2);
  const auto structure = model::make_structure(kase.model);
  on_rank([&](Rank& rank) {
    OnDevice on(rank, structure, weights_of(kase));
    const auto data = cases::micro_of(kase, 0, 0);
    train_micro(rank, on, kase, data, data.tokens);
    Tensor weights = rank.empty(structure.total, Kind::parameter), grads = rank.zeros(structure.total, Kind::gradient);
    for (int l = 0; l < 2; ++l) copy(weights.part(on.model.range(l)), on.state.weights[static_cast<std::size_t>(l)]);

    const Tensor x = inputs_of(rank, kase, data), targets = targets_of(rank, kase, data);
    Saved first, second;
    const Tensor middle = on.model.forward(0, weights.part(on.model.range(0)), x, &first);
    Tensor grad = on.model.forward(1, weights.part(on.model.range(1)), middle, &second);
    grad = on.model.loss(std::move(grad), targets, data.tokens, on.loss);
    grad = on.model.backward(1, weights.part(on.model.range(1)), middle, std::move(second), std::move(grad),
                             grads.part(on.model.range(1)));
    on.model.backward(0, weights.part(on.model.range(0)), x, std::move(first), std::move(grad),
                      grads.part(on.model.range(0)));
    for (int l = 0; l < 2; ++l) {
      EXPECT_EQ(get(grads.part(on.model.range(l))), get(on.state.grads[static_cast<std::size_t>(l)]));
    }
  });
}

TEST(Model, CallThatFailsForMemoryLeavesNothingBehind) {
  const cases::Case kase = case_of(gpt(1, 8, 2, 7, 5), 3);
  const auto structure = model::make_structure(kase.model);
  world::Options options;
  options.cluster.table.forward = Nanos(1000);
  const Count batch_bytes = 4 * 15, scalar = 4, activation = 4 * 15 * 8;
  // Room for the weights, their gradients and ten activations: enough to run the block, not to save it.
  options.capacity = Bytes(2 * 4 * structure.total + batch_bytes + scalar + 10 * activation);
  const auto report = world::run(options, [&](Rank& rank) {
    OnDevice on(rank, structure, weights_of(kase));
    const Tensor ids = inputs_of(rank, kase, cases::micro_of(kase, 0, 0));
    const Tensor x = on.model.forward(0, on.state.weights[0], ids, nullptr);
    const Bytes before = live_of(rank);
    Saved saved;
    EXPECT_THROW(on.model.forward(1, on.state.weights[1], x, &saved), OutOfMemory);
    EXPECT_EQ(live_of(rank), before);
    EXPECT_FALSE(saved);
    const Nanos now = now_of(rank);
    const Tensor y = on.model.forward(1, on.state.weights[1], x, nullptr);
    EXPECT_EQ(now_of(rank) - now, Nanos(1000));
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

TEST(Model, TellsItsSizes) {
  const detail::RankModel own{std::make_shared<const model::ModelStructure>(model::make_structure(gpt(2, 6, 3, 11, 4))),
                              {}};
  const Model model = detail::Access::model(&own);
  EXPECT_EQ(model.num_layers(), 4);
  EXPECT_EQ(model.size(1), 12 * 36 + 13 * 6);
  EXPECT_EQ(model.range(1).begin, model.size(0));
  EXPECT_EQ(model.total(), model.range(3).end);
  EXPECT_STREQ(model.entries(0)[0].name, "token");
  EXPECT_THROW(model.size(4), InvalidArgument);
  EXPECT_THROW(model.entries(-1), InvalidArgument);
}

TEST(Model, CallsAreCountedAndCostTheTable) {
  const cases::Case kase = case_of(gpt(2, 8, 2, 7, 5), 3);
  const auto structure = model::make_structure(kase.model);
  const auto report = on_rank([&](Rank& rank) {
    OnDevice on(rank, structure, weights_of(kase));
    front_of(rank).begin_measuring({});
    train_micro(rank, on, kase, cases::micro_of(kase, 0, 0), 15, true);
    update(rank, on);
    front_of(rank).end_measuring();
  });
  const front::Counters& counters = report.ranks[0].counters;
  EXPECT_EQ(counters.layer_forwards, 8);
  EXPECT_EQ(counters.layer_backwards, 4);
  EXPECT_EQ(counters.saved_peak, 1);
  EXPECT_EQ(counters.end, Nanos(8 * 1000 + 4 * 2000 + 300 + 4 * 70));
  std::map<EventKind, int> calls;
  for (const front::Event& event : report.ranks[0].trace.events) {
    if (event.depth == 0) ++calls[event.kind];
    if (event.depth > 0) {
      EXPECT_EQ(event.begin, event.end) << "an operation inside a call of the model costs nothing";
    }
  }
  EXPECT_EQ(calls[EventKind::forward], 8);
  EXPECT_EQ(calls[EventKind::backward], 4);
  EXPECT_EQ(calls[EventKind::loss], 1);
  EXPECT_EQ(calls[EventKind::update], 4);
}

TEST(Model, FlopsAreThoseOfTheProducts) {
  const cases::Case kase = case_of(mlp(2, 6, 5, 3), 2);
  const auto structure = model::make_structure(kase.model);
  const auto report = on_rank([&](Rank& rank) {
    OnDevice on(rank, structure, weights_of(kase));
    train_micro(rank, on, kase, cases::micro_of(kase, 0, 0), 6);
  });
  std::map<EventKind, Flops> flops;
  for (const front::Event& event : report.ranks[0].trace.events) {
    if (event.depth == 0) flops[event.kind] += event.flops;
  }
  const Count products = 6 * (6 * 6 + 6 * 5);
  EXPECT_GE(flops[EventKind::forward].value(), 2 * products);
  EXPECT_LT(flops[EventKind::forward].value(), 4 * products);
  EXPECT_GE(flops[EventKind::backward].value(), 4 * products);
  EXPECT_LT(flops[EventKind::backward].value(), 7 * products);
}

TEST(Model, LabelsFlowFromTheMicroBatch) {
  const cases::Case kase = case_of(gpt(1, 8, 2, 7, 5), 3);
  const auto structure = model::make_structure(kase.model);
  const auto report = on_rank([&](Rank& rank) {
    OnDevice on(rank, structure, weights_of(kase));
    const auto data = cases::micro_of(kase, 0, 0);
    const Tensor ids = inputs_of(rank, kase, data), targets = targets_of(rank, kase, data);
    std::vector<Tensor> x;
    std::vector<Saved> saved(3);
    for (int l = 0; l < 3; ++l) {
      const auto at = static_cast<std::size_t>(l);
      const ConstView in = l == 0 ? detail::Access::labelled(ConstView(ids), 5) : ConstView(x.back());
      x.push_back(on.model.forward(l, on.state.weights[at], in, &saved[at]));
    }
    Tensor grad = on.model.loss(std::move(x.back()), targets, 15, on.loss);
    grad = on.model.backward(2, on.state.weights[2], x[1], std::move(saved[2]), std::move(grad), on.state.grads[2]);
    const auto& made = front_of(rank).memory().storages().at(detail::Access::ref(grad).storage);
    EXPECT_EQ(made.label.micro, 5);
    EXPECT_EQ(made.kind, Kind::activation);
  });
  int seen = 0;
  for (const front::Event& event : report.ranks[0].trace.events) {
    if (event.depth > 0 || event.kind == EventKind::operation) continue;
    EXPECT_EQ(event.label.micro, 5);
    const int expected[] = {0, 1, 2, -1, 2};
    EXPECT_EQ(event.label.layer, expected[seen++]);
  }
  EXPECT_EQ(seen, 5);
}

}  // namespace
}  // namespace shardlings::model_test

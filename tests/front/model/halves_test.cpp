// A backward in two halves is the backward: the same bits, whichever gradients of weights come first.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/dtype.h"
#include "front/model/on_model.h"
#include "model/flops.h"
#include "model/memory.h"
#include "model/software_stack.h"
#include "support/worlds.h"
#include "world/use_backend.h"

namespace shardlings::model_test {
namespace {

using front::EventKind;
using testing::HasSubstr;

/// One micro-batch on its way through all layers.
struct Micro {
  std::vector<Tensor> x;
  std::vector<Saved> saved;
  Tensor grad;
};

struct Types {
  DType weights = DType::f32, grads = DType::f32;
};

/// A model with some micro-batches that have run forward.
struct InHalves {
  InHalves(Rank& rank, const cases::Case& kase, Types types = {})
      : on(rank, model::make_structure(kase.model), weights_of(kase)), layers(on.state.weights.size()) {
    for (Tensor& weights : on.state.weights) weights = cast(weights, types.weights);
    for (Tensor& grads : on.state.grads) grads = rank.zeros(grads.size(), Kind::gradient, types.grads);
    for (int i = 0; i < kase.micro_batches; ++i) {
      const cases::MicroData data = cases::micro_of(kase, 0, i);
      Micro& micro = micros.emplace_back();
      Tensor x = inputs_of(rank, kase, data);
      micro.x.push_back(x.dtype() == DType::i32 ? std::move(x) : cast(x, types.weights));
      micro.saved.resize(layers);
      for (std::size_t l = 0; l < layers; ++l) {
        micro.x.push_back(on.model.forward(number(l), on.state.weights[l], micro.x[l], &micro.saved[l]));
      }
      micro.grad = on.model.loss(std::move(micro.x.back()), targets_of(rank, kase, data), data.tokens, on.loss);
    }
  }

  static int number(std::size_t l) { return static_cast<int>(l); }
  void whole(std::size_t i) {
    Micro& micro = micros[i];
    for (std::size_t l = layers; l-- > 0;) {
      micro.grad = on.model.backward(number(l), on.state.weights[l], micro.x[l], std::move(micro.saved[l]),
                                     std::move(micro.grad), on.state.grads[l]);
    }
  }
  void input(std::size_t i) {
    Micro& micro = micros[i];
    for (std::size_t l = layers; l-- > 0;) {
      micro.grad =
          on.model.backward_input(number(l), on.state.weights[l], micro.x[l], micro.saved[l], std::move(micro.grad));
      EXPECT_TRUE(micro.saved[l]);
    }
  }
  void weights(std::size_t i, std::size_t l) {
    Micro& micro = micros[i];
    on.model.backward_weights(number(l), micro.x[l], std::move(micro.saved[l]), on.state.grads[l]);
    EXPECT_FALSE(micro.saved[l]);
  }

  OnDevice on;
  std::size_t layers;
  std::vector<Micro> micros;
};

const std::vector<model::ModelSpec>& specs() {
  static const std::vector<model::ModelSpec> all = {mlp(4, 9, 5, 4), gpt(2, 12, 3, 7, 5)};
  return all;
}

using Indices = std::vector<std::size_t>;

/// Gradients after whole backwards in that order of the micro-batches.
Layers of_whole(const cases::Case& kase, const Indices& order, Types types) {
  Layers grads;
  on_rank([&](Rank& rank) {
    InHalves in(rank, kase, types);
    for (const std::size_t i : order) in.whole(i);
    grads = get_layers(in.on.state.grads);
  });
  return grads;
}

/// `delay`: so many micro-batches later than its first half comes the second one of each; then what is left.
Layers of_halves(const cases::Case& kase, const Indices& order, std::size_t delay, bool first_layer_first,
                 Types types) {
  Layers grads;
  on_rank([&](Rank& rank) {
    InHalves in(rank, kase, types);
    const auto weights = [&](std::size_t i) {
      for (std::size_t k = 0; k < in.layers; ++k) in.weights(i, first_layer_first ? k : in.layers - 1 - k);
    };
    for (std::size_t k = 0; k < order.size(); ++k) {
      in.input(order[k]);
      if (k >= delay) weights(order[k - delay]);
    }
    for (std::size_t k = order.size() - std::min(delay, order.size()); k < order.size(); ++k) weights(order[k]);
    grads = get_layers(in.on.state.grads);
  });
  return grads;
}

TEST(Halves, AddWhatBackwardAddsInEveryOrder) {
  for (const model::ModelSpec& spec : specs()) {
    const cases::Case kase = case_of(spec, 3, 3);
    for (const Types types : {Types{}, Types{DType::bf16, DType::f32}, Types{DType::bf16, DType::bf16}}) {
      Indices order(3);
      std::iota(order.begin(), order.end(), 0);
      do {
        const Layers expected = of_whole(kase, order, types);
        for (const std::size_t delay : {0, 1, 3}) {
          SCOPED_TRACE(fmt::format("weights {}, first {}, delay {}", name_of(types.weights), order[0], delay));
          EXPECT_EQ(of_halves(kase, order, delay, delay == 1, types), expected);
        }
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
}

TEST(Halves, LayersMayGoThroughTheirMicroBatchesApart) {
  const cases::Case kase = case_of(gpt(2, 12, 3, 7, 5), 2, 3);
  const Layers expected = of_whole(kase, {0, 1, 2}, {});
  on_rank([&](Rank& rank) {
    InHalves in(rank, kase);
    for (std::size_t i = 0; i < 3; ++i) in.input(i);
    for (std::size_t l = 0; l < in.layers; ++l) {
      for (std::size_t i = 0; i < 3; ++i) in.weights(i, l);
    }
    EXPECT_EQ(get_layers(in.on.state.grads), expected);
  });
}

TEST(Halves, ReturnTheSameGradientOfTheInput) {
  const cases::Case kase = case_of(mlp(3, 9, 5, 4), 3);
  on_rank([&](Rank& rank) {
    InHalves one(rank, kase), two(rank, kase);
    one.whole(0);
    two.input(0);
    EXPECT_EQ(get(one.micros[0].grad), get(two.micros[0].grad));
    EXPECT_EQ(two.micros[0].grad.shape(), two.micros[0].x[0].shape());
    for (const std::vector<double>& layer : get_layers(two.on.state.grads)) {
      EXPECT_THAT(layer, testing::Each(0)) << "nothing is added yet";
    }
  });
}

TEST(Halves, OfABlockAndTheHeadDoWithoutX) {
  const cases::Case kase = case_of(gpt(2, 12, 3, 7, 5), 2);
  const Layers expected = of_whole(kase, {0}, {});
  on_rank([&](Rank& rank) {
    InHalves in(rank, kase);
    in.input(0);
    for (std::size_t l = 1; l < in.layers; ++l) in.micros[0].x[l] = {};
    for (std::size_t l = in.layers; l-- > 0;) in.weights(0, l);
    EXPECT_EQ(get_layers(in.on.state.grads), expected);
  });
}

TEST(Halves, ComputeTheSameWhereABlockIsComputedAgain) {
  const cases::Case kase = case_of(gpt(2, 12, 3, 7, 5), 2);
  const Layers expected = of_whole(kase, {0}, {});
  for (const model::Recompute recompute : {model::Recompute::full, model::Recompute::selective}) {
    world::Options options;
    options.cluster = support::test_cluster();
    options.execution.recompute = recompute;
    const front::RunReport report = world::run(options, [&](Rank& rank) {
      InHalves in(rank, kase);
      in.input(0);
      for (std::size_t l = 0; l < in.layers; ++l) in.weights(0, l);
      EXPECT_EQ(get_layers(in.on.state.grads), expected);
    });
    EXPECT_FALSE(report.failure) << report.failure->message;
  }
}

TEST(Halves, ShareTheTimeOfABackward) {
  const cases::Case kase = case_of(mlp(3, 9, 5, 4), 3);
  const auto times = [&](std::optional<Nanos> weights) {
    world::Options options;
    options.cluster.table = {Nanos(1000), Nanos(2001), Nanos(300), Nanos(70), weights};
    std::map<EventKind, std::vector<std::int64_t>> found;
    const front::RunReport report = world::run(options, [&](Rank& rank) {
      InHalves in(rank, kase);
      in.input(0);
      for (std::size_t l = 0; l < in.layers; ++l) in.weights(0, l);
      EXPECT_EQ(counters_of(rank).layer_backwards, 3) << "both halves are one backward";
    });
    for (const front::Event& event : report.ranks[0].trace.events) {
      if (event.depth == 0) found[event.kind].push_back((event.end - event.begin).value());
    }
    return found;
  };
  EXPECT_THAT(times({})[EventKind::backward_input], testing::ElementsAre(1001, 1001, 1001));
  EXPECT_THAT(times({})[EventKind::backward_weights], testing::ElementsAre(1000, 1000, 1000));
  EXPECT_THAT(times(Nanos(700))[EventKind::backward_input], testing::ElementsAre(1301, 1301, 1301));
  EXPECT_THAT(times(Nanos(700))[EventKind::backward_weights], testing::ElementsAre(700, 700, 700));
}

/// A stack of a few kernels, some of which are for the gradients of weights.
std::shared_ptr<const model::SoftwareStack> small_stack() {
  using model::Width;
  const auto product = [](Width in, Width out, bool weights) {
    model::StackRow row;
    row.in = in;
    row.out = out;
    row.weights = weights;
    return row;
  };
  model::StackRow norm;
  norm.moves[static_cast<std::size_t>(model::Extent::hidden)] = 3;
  model::SoftwareStack stack;
  stack.forward = {product(Width::hidden, Width::qkv, false), norm};
  stack.backward = {product(Width::hidden, Width::qkv, false), product(Width::hidden, Width::qkv, true), norm,
                    product(Width::hidden, Width::wide, true)};
  model::StackKept kept;
  kept.elements[static_cast<std::size_t>(model::Extent::attended)] = 3;
  stack.kept = {kept};
  return std::make_shared<const model::SoftwareStack>(stack);
}

/// What a block's call has cost.
struct Cost {
  Nanos time;
  Flops flops;
  Bytes live;
};

TEST(Halves, OfASoftwareStackAreTheRowsOfItsBackward) {
  world::Options options;
  options.cluster = support::test_cluster();
  options.execution.stack = small_stack();
  use_backend(options, world::Backend::dry);
  const Count s = 5, b = 2, h = 12;
  const front::RunReport report = world::run(options, [&](Rank& rank) {
    OnDevice on(rank, model::make_structure(gpt(1, h, 3, 7, s)), weights_of(case_of(gpt(1, h, 3, 7, s), b)));
    const auto cost_of = [&](const std::function<void()>& call) {
      const Cost before{now_of(rank), counters_of(rank).flops, live_of(rank)};
      call();
      return Cost{now_of(rank) - before.time, counters_of(rank).flops - before.flops, live_of(rank) - before.live};
    };
    const Tensor x = rank.empty({s, b, h}, Kind::activation);
    const Bytes before = live_of(rank);
    Saved saved;
    Tensor y = on.model.forward(1, on.state.weights[1], x, &saved);
    const Cost whole = cost_of(
        [&] { y = on.model.backward(1, on.state.weights[1], x, std::move(saved), std::move(y), on.state.grads[1]); });
    y = on.model.forward(1, on.state.weights[1], x, &saved);
    const Cost first = cost_of([&] { y = on.model.backward_input(1, on.state.weights[1], x, saved, std::move(y)); });
    y = {};
    // Both sides of two products: h and 3 h, h and 4 h.
    EXPECT_EQ(live_of(rank) - before, Bytes(4 * s * b * h * (1 + 3 + 1 + 4)));
    const Cost second = cost_of([&] { on.model.backward_weights(1, {}, std::move(saved), on.state.grads[1]); });
    EXPECT_EQ(first.flops, Flops(2 * s * b * h * 3 * h));
    EXPECT_EQ(second.flops, Flops(2 * s * b * h * (3 + 4) * h));
    EXPECT_EQ(first.flops + second.flops, whole.flops);
    EXPECT_EQ(first.time + second.time, whole.time);
    EXPECT_EQ(live_of(rank), before);
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

std::string message_of(const std::function<void(Rank&, InHalves&)>& mistake) {
  const cases::Case kase = case_of(mlp(3, 9, 5, 4), 2, 2);
  return error_of([&](Rank& rank) {
    InHalves in(rank, kase);
    mistake(rank, in);
  });
}

TEST(HalvesMisuse, IsToldWithTheCallThatIsMissing) {
  EXPECT_EQ(message_of([](Rank&, InHalves& in) { in.input(0); }), "") << "a Saved may be dropped after its first half";
  EXPECT_THAT(message_of([](Rank&, InHalves& in) { in.weights(0, 2); }),
              HasSubstr("backward_weights of layer 2: backward_input has not been called with this Saved yet"));
  const std::string twice =
      "backward_input has been called with this Saved already; what is left of its backward is "
      "backward_weights";
  EXPECT_THAT(message_of([](Rank& rank, InHalves& in) {
                in.input(0);
                in.micros[0].grad = rank.zeros({4, 2, 5}, Kind::activation);
                in.input(0);
              }),
              HasSubstr("backward_input of layer 2: " + twice));
  EXPECT_THAT(message_of([](Rank& rank, InHalves& in) {
                in.input(0);
                in.micros[0].grad = rank.zeros({4, 2, 5}, Kind::activation);
                in.whole(0);
              }),
              HasSubstr("backward of layer 2: " + twice));
  EXPECT_THAT(message_of([](Rank&, InHalves& in) {
                in.input(0);
                in.weights(0, 1);
                in.weights(0, 1);
              }),
              HasSubstr("backward_weights of layer 1: the Saved is empty"));
}

TEST(HalvesMisuse, OfOtherLayersInputsAndGradients) {
  EXPECT_THAT(message_of([](Rank&, InHalves& in) {
                in.input(0);
                in.on.model.backward_weights(1, in.micros[0].x[1], std::move(in.micros[0].saved[2]),
                                             in.on.state.grads[1]);
              }),
              HasSubstr("backward_weights of layer 1: the Saved is that of layer 2"));
  EXPECT_THAT(message_of([](Rank&, InHalves& in) {
                in.input(0);
                in.on.model.backward_weights(1, {}, std::move(in.micros[0].saved[1]), in.on.state.grads[1]);
              }),
              HasSubstr("backward_weights of layer 1: x has shape"));
  EXPECT_THAT(message_of([](Rank& rank, InHalves& in) {
                in.input(0);
                const Tensor x = rank.zeros({4, 1, 9}, Kind::activation);
                in.on.model.backward_weights(1, x, std::move(in.micros[0].saved[1]), in.on.state.grads[1]);
              }),
              HasSubstr("x has shape (4, 1, 9), but the Saved is of a forward whose x had (4, 2, 9)"));
  EXPECT_THAT(message_of([](Rank&, InHalves& in) {
                in.input(0);
                in.on.model.backward_weights(1, in.micros[0].x[1], std::move(in.micros[0].saved[1]),
                                             View(in.on.state.grads[1]).part({0, 3}));
              }),
              HasSubstr("backward_weights of layer 1: the gradients of the weights have 3 elements"));
  EXPECT_THAT(message_of([](Rank& rank, InHalves& in) {
                in.input(0);
                Tensor grads = rank.zeros(in.on.model.size(1), Kind::gradient, DType::bf16);
                in.on.model.backward_weights(1, in.micros[0].x[1], std::move(in.micros[0].saved[1]), grads);
              }),
              HasSubstr("gradients of f32 weights cannot be added to bf16"));
}

}  // namespace
}  // namespace shardlings::model_test

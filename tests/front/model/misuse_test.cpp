// What is said when layers are used wrongly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "api/access.h"
#include "front/model/on_model.h"
#include "front/model/saved_table.h"

namespace shardlings::model_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// A model of three layers (9 to 9, 9 to 9, 9 to 5) with one forward pass made.
struct Scene {
  Rank& rank;
  OnDevice on;
  std::vector<Tensor> x;
  std::vector<Saved> saved;
  Tensor targets;

  Tensor backward(int l, int of_saved, Tensor grad) {
    const auto at = static_cast<std::size_t>(l);
    return on.model.backward(l, on.state.weights[at], x[at], std::move(saved[static_cast<std::size_t>(of_saved)]),
                             std::move(grad), on.state.grads[at]);
  }
};

std::string message_of(const std::function<void(Scene&)>& mistake) {
  const cases::Case kase = case_of(mlp(3, 9, 5, 4), 2);
  const auto structure = model::make_structure(kase.model);
  return error_of([&](Rank& rank) {
    const auto data = cases::micro_of(kase, 0, 0);
    Scene scene{
        rank, OnDevice(rank, structure, weights_of(kase)), {}, std::vector<Saved>(3), targets_of(rank, kase, data)};
    scene.x.push_back(inputs_of(rank, kase, data));
    for (int l = 0; l < 3; ++l) {
      const auto at = static_cast<std::size_t>(l);
      scene.x.push_back(scene.on.model.forward(l, scene.on.state.weights[at], scene.x[at], &scene.saved[at]));
    }
    mistake(scene);
  });
}

Tensor blank(Scene& scene, Shape shape) {
  return scene.rank.zeros(shape, Kind::activation);
}

TEST(ModelMisuse, NothingIsSaidWhenAllIsWell) {
  EXPECT_EQ(message_of([](Scene& s) { s.backward(1, 1, blank(s, {4, 2, 9})); }), "");
}

// Their bytes and operations would not fit a number.
TEST(ModelMisuse, CostsOfWhatIsNoMicroBatch) {
  for (const auto& [sequence, batch] : std::vector<std::pair<Count, Count>>{
           {-1, 2}, {2, -1}, {Count{1} << 32, Count{1} << 32}, {Count{1} << 62, 4}, {0, Count{1} << 62}}) {
    EXPECT_THAT(message_of([&, s = sequence, b = batch](Scene& scene) { scene.on.model.cost(1, s, b); }),
                AllOf(HasSubstr("misuse_test.cpp:"), HasSubstr("cost of layer 1: no micro-batch has")));
  }
  EXPECT_EQ(message_of([](Scene& scene) { scene.on.model.cost(1, 4096, 8); }), "");
  EXPECT_EQ(message_of([](Scene& scene) { scene.on.model.cost(1, 0, 0); }), "");
}

TEST(ModelMisuse, WhatACallWouldUseUpIsStillThereIfItIsNotMade) {
  EXPECT_EQ(message_of([](Scene& s) {
              Tensor grad = blank(s, {4, 2, 9});
              const Bytes live = live_of(s.rank);
              const ConstView foreign =
                  detail::Access::view(&front_of(s.rank).doors().harness(), detail::Access::ref(s.x[1]));
              EXPECT_THROW(s.on.model.backward(1, s.on.state.weights[1], foreign, std::move(s.saved[1]),
                                               std::move(grad), s.on.state.grads[1]),
                           InvalidArgument);
              EXPECT_THROW(s.on.model.loss(std::move(grad), foreign, 8, s.on.loss), InvalidArgument);
              s.backward(1, 1, std::move(grad));
              EXPECT_LT(live_of(s.rank), live) << "nothing is lost";
            }),
            "");
}

TEST(ModelMisuse, SavedUsedTwice) {
  const std::string message = message_of([](Scene& s) {
    s.backward(1, 1, blank(s, {4, 2, 9}));
    s.backward(1, 1, blank(s, {4, 2, 9}));
  });
  EXPECT_THAT(message, AllOf(HasSubstr("misuse_test.cpp:"), HasSubstr("backward of layer 1"),
                             HasSubstr("the Saved is empty"), HasSubstr("used it up already")));
}

TEST(ModelMisuse, SavedOfAnotherLayer) {
  EXPECT_THAT(message_of([](Scene& s) {
                s.backward(1, 0, blank(s, {4, 2, 9}));
              }),
              HasSubstr("backward of layer 1: the Saved is that of layer 0"));
}

TEST(ModelMisuse, SavedOfAnotherShape) {
  EXPECT_THAT(
      message_of([](Scene& s) {
        s.x[1] = blank(s, {3, 2, 9});
        s.backward(1, 1, blank(s, {3, 2, 9}));
      }),
      HasSubstr("backward of layer 1: x has shape (3, 2, 9), but the Saved is of a forward whose x had (4, 2, 9)"));
}

TEST(ModelMisuse, SavedOfAnotherMicroBatch) {
  EXPECT_THAT(message_of([](Scene& s) {
                const auto micro = [&](int i) { return detail::Access::labelled(ConstView(s.x[1]), i); };
                s.on.model.forward(1, s.on.state.weights[1], micro(3), &s.saved[1]);
                s.on.model.backward(1, s.on.state.weights[1], micro(4), std::move(s.saved[1]), blank(s, {4, 2, 9}),
                                    s.on.state.grads[1]);
              }),
              HasSubstr("x is of micro-batch 4, but the Saved of micro-batch 3"));
}

TEST(ModelMisuse, TargetsOfAnotherMicroBatch) {
  const auto loss_of = [](int logits, int targets) {
    return [=](Scene& s) {
      const ConstView x = detail::Access::labelled(ConstView(s.x[2]), logits);
      Tensor y = s.on.model.forward(2, s.on.state.weights[2], x, nullptr);
      s.on.model.loss(std::move(y), detail::Access::labelled(ConstView(s.targets), targets), 8, s.on.loss);
      s.on.model.forward(3, s.on.state.weights[0], s.x[0], nullptr);
    };
  };
  EXPECT_THAT(message_of(loss_of(3, 4)),
              HasSubstr("loss: the logits are of micro-batch 3, but the targets of micro-batch 4"));
  EXPECT_THAT(message_of(loss_of(3, 3)), HasSubstr("forward of layer 3")) << "nothing is wrong before that";
  EXPECT_THAT(message_of(loss_of(3, -1)), HasSubstr("forward of layer 3")) << "targets of no micro-batch";
}

TEST(ModelMisuse, LayerThatDoesNotExist) {
  EXPECT_THAT(message_of([](Scene& s) { s.on.model.forward(3, s.on.state.weights[0], s.x[0], nullptr); }),
              HasSubstr("forward of layer 3: there is no such layer; the model has layers 0 to 2"));
}

TEST(ModelMisuse, WeightsOfAnotherLayer) {
  EXPECT_THAT(
      message_of([](Scene& s) { s.on.model.forward(2, s.on.state.weights[1], s.x[1], nullptr); }),
      HasSubstr("forward of layer 2: the weights have 90 elements, but the layer has 50 weights: model.size(2)"));
}

TEST(ModelMisuse, InputOfAnotherShape) {
  EXPECT_THAT(
      message_of([](Scene& s) {
        s.on.model.forward(1, s.on.state.weights[1], blank(s, {4, 2, 5}), nullptr);
      }),
      HasSubstr("forward of layer 1: x has shape (4, 2, 5) of f32, expected (s, b, 9) of f32 or bf16: what forward of "
                "layer 0 returned"));
}

TEST(ModelMisuse, GradientOfAnotherShape) {
  EXPECT_THAT(message_of([](Scene& s) {
                s.backward(2, 2, blank(s, {4, 2, 9}));
              }),
              HasSubstr("the gradient has shape (4, 2, 9), but the layer's output has (4, 2, 5) for this x"));
}

TEST(ModelMisuse, GradientThatWasMovedFrom) {
  EXPECT_THAT(message_of([](Scene& s) { s.backward(2, 2, {}); }), HasSubstr("is an empty tensor (moved from?)"));
}

TEST(ModelMisuse, NothingButEmptyTensors) {
  EXPECT_EQ(message_of([](Scene& s) {
              const auto is_refused = [](const std::function<void()>& call, const char* name) {
                try {
                  call();
                  ADD_FAILURE() << name << " goes on without a tensor";
                } catch (const InvalidArgument& error) {
                  EXPECT_THAT(error.what(),
                              HasSubstr(std::string(name) + ": all its tensors are empty (moved from, or "));
                }
              };
              is_refused([&] { s.on.model.forward(1, {}, {}, &s.saved[0]); }, "forward");
              is_refused([&] { s.on.model.backward(1, {}, {}, std::move(s.saved[1]), {}, {}); }, "backward");
              is_refused([&] { s.on.model.loss({}, {}, 8, {}); }, "loss");
              EXPECT_EQ(front_of(s.rank).models().saved.alive(), 3) << "what it was given is still the caller's";
            }),
            "");
}

TEST(ModelMisuse, FreedInput) {
  EXPECT_THAT(message_of([](Scene& s) {
                const ConstView gone = s.x[1];
                s.x[1] = {};
                s.on.model.forward(1, s.on.state.weights[1], gone, nullptr);
              }),
              HasSubstr("has been freed already"));
}

TEST(ModelMisuse, LossOfOtherTargets) {
  EXPECT_THAT(message_of([](Scene& s) {
                s.on.model.loss(std::move(s.x[3]), ConstView(s.targets).part({0, 4}), 8, s.on.loss);
              }),
              HasSubstr("loss: 4 targets for 8 rows of logits"));
  EXPECT_THAT(message_of([](Scene& s) { s.on.model.loss(std::move(s.x[1]), s.targets, 8, s.on.loss); }),
              HasSubstr("loss: the logits have shape (4, 2, 9), expected (s, b, 5)"));
  EXPECT_THAT(message_of([](Scene& s) { s.on.model.loss(std::move(s.x[3]), s.targets, 0, s.on.loss); }),
              HasSubstr("batch.tokens_of_step()"));
}

TEST(ModelMisuse, UpdateOfUnequalRanges) {
  EXPECT_THAT(message_of([](Scene& s) {
                s.on.model.update(0, s.on.state.weights[0], s.on.state.grads[2], s.on.state.optimizer[0]);
              }),
              HasSubstr("update of layer 0: 90 weights, but the gradient has 50 elements; all must be the same range"));
}

TEST(ModelMisuse, QueryAboutALayerThatDoesNotExist) {
  const auto told = [](const char* query, auto ask) {
    EXPECT_THAT(message_of([ask](Scene& s) { ask(s.on.model); }),
                AllOf(StartsWith("misuse_test.cpp:"), HasSubstr(std::string(": ") + query + " of layer "),
                      HasSubstr("there is no such layer; the model has layers 0 to 2")));
  };
  told("size", [](const Model& model) { model.size(3); });
  told("range", [](const Model& model) { model.range(-1); });
  told("entries", [](const Model& model) { model.entries(3); });
  told("owned", [](const Model& model) { model.owned(3); });
  told("tied", [](const Model& model) { model.tied(-1); });
  told("cost", [](const Model& model) { model.cost(4, 4, 2); });
}

// The operations that a layer is made of are nothing that the learner has called.
TEST(ModelMisuse, TheLastCallIsTheLearners) {
  const auto after = [](auto call) {
    return message_of([call](Scene& s) {
      call(s);
      throw std::runtime_error("no idea");
    });
  };
  const auto update = [](Scene& s) {
    s.on.model.update(0, s.on.state.weights[0], s.on.state.grads[0], s.on.state.optimizer[0]);
  };
  EXPECT_THAT(after([](Scene&) {}), HasSubstr("rank 0, after forward at misuse_test.cpp:"));
  EXPECT_THAT(after(update), HasSubstr("rank 0, after update at misuse_test.cpp:"));
  EXPECT_THAT(after([](Scene& s) { s.backward(2, 2, blank(s, {4, 2, 5})); }), HasSubstr("rank 0, after backward at "));
  EXPECT_THAT(after([](Scene& s) { s.rank.host_empty(3, Kind::other); }), HasSubstr("rank 0, after host_empty at "));
  EXPECT_THAT(after([](Scene& s) { front_of(s.rank).begin_measuring({}); }),
              HasSubstr("rank 0, before its first call"));
}

// What a layer calls itself is not looked at again: that must be over when it has failed.
TEST(ModelMisuse, AfterALayerThatFailedCallsAreCheckedAsBefore) {
  const cases::Case kase = case_of(mlp(3, 9, 5, 4), 2);
  const auto structure = model::make_structure(kase.model);
  world::Options options;
  options.capacity = Bytes(1 << 16);
  const std::string said = support::error_on_rank(options, [&](Rank& rank) {
    const OnDevice on(rank, structure, weights_of(kase));
    const Tensor x = inputs_of(rank, kase, cases::micro_of(kase, 0, 0));
    std::vector<Tensor> all;
    for (Count n = options.capacity.value(); n > 0;) {  // what memory there is
      try {
        all.push_back(rank.empty(n, Kind::other));
      } catch (const OutOfMemory&) {
        n /= 2;
      }
    }
    EXPECT_THROW(on.model.forward(0, on.state.weights[0], x, nullptr), OutOfMemory);
    detail::Call call;
    call.verb = detail::Verb::fill;
    call.num_tensors = 99;
    detail::Access::port(rank)->call(call);
  });
  EXPECT_THAT(said, HasSubstr("it comes with 99 tensors"));
}

TEST(ModelMisuse, OperationsInsideAreNotNamed) {
  const auto update = [](ConstView weights, Scene& s) {
    s.on.model.update(0, detail::Access::view(detail::Access::port(s.rank), detail::Access::ref(weights)),
                      s.on.state.grads[0], s.on.state.optimizer[0]);
  };
  EXPECT_THAT(message_of([&](Scene& s) {
                const Work sum = s.rank.world().all_reduce_async(s.on.state.weights[0], ReduceOp::sum);
                update(s.on.state.weights[0], s);
              }),
              HasSubstr("update writes elements [0, 90) of a tensor"));
  EXPECT_THAT(message_of([&](Scene& s) {
                const ConstView gone = s.on.state.weights[0];
                s.on.state.weights[0] = {};
                update(gone, s);
              }),
              HasSubstr("update: tensor argument 1 has been freed already"));
  EXPECT_THAT(message_of([&](Scene& s) { update(cast(s.on.state.weights[0], DType::bf16), s); }),
              HasSubstr("update: w is bf16, but must be f32"));
}

TEST(ModelMisuse, DroppedSavedIsFreed) {
  EXPECT_EQ(message_of([](Scene& s) {
              front::RankFront& front = front_of(s.rank);
              const Bytes before = front.memory().ledger(front::Memory::device).live();
              s.saved[1] = {};
              EXPECT_EQ(before - front.memory().ledger(front::Memory::device).live(), Bytes(4 * 4 * 2 * 9));
              EXPECT_EQ(front.models().saved.alive(), 2);
              s.on.model.forward(0, s.on.state.weights[0], s.x[0], &s.saved[0]);  // takes the place of the old one
              EXPECT_EQ(front.models().saved.alive(), 2);
            }),
            "");
}

TEST(ModelMisuse, SavedThatNobodyOwnsGoesWithTheRank) {
  EXPECT_EQ(message_of([](Scene& s) { detail::Access::release(std::move(s.saved[1])); }), "");
}

TEST(ModelMisuse, EmbeddingWantsIds) {
  const cases::Case kase = case_of(gpt(1, 8, 2, 7, 5), 3);
  const auto structure = model::make_structure(kase.model);
  EXPECT_THAT(error_of([&](Rank& rank) {
                OnDevice on(rank, structure, weights_of(kase));
                const Tensor x = rank.zeros({5, 3, 8}, Kind::activation);
                on.model.forward(0, on.state.weights[0], x, nullptr);
              }),
              HasSubstr("token ids (s, b) of i32 with s at most 5"));
}

}  // namespace
}  // namespace shardlings::model_test

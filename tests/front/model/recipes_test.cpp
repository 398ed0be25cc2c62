// Calls of the model that are repeated from recipes do what their operations do: the same is counted, at the same
// times, the same is said, and memory runs out at the same place.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>

#include "api/access.h"
#include "api/harness_calls.h"
#include "front/model/on_model.h"
#include "support/worlds.h"
#include "world/use_backend.h"

namespace shardlings::model_test {
namespace {

using detail::Access;
using Optimizer = model::ModelSpec::Optimizer;

/// Who looks at nothing that is computed: counts how many kernels are launched.
class CountingDevice final : public back::Device {
 public:
  explicit CountingDevice(int& launches) : launches_(launches) {}
  bool computes() const override { return false; }
  void* allocate(Bytes) override { return this; }
  void release(void*, Bytes) noexcept override {}
  void* allocate_host(Bytes) override { return this; }
  void release_host(void*, Bytes) noexcept override {}
  void launch(const back::Kernel&, back::DeviceLane) override { ++launches_; }
  void upload(void*, const void*, Bytes) override {}
  void download(void*, const void*, Bytes) override {}
  back::DeviceEvent record(back::DeviceLane) override { return 0; }
  void wait(back::DeviceLane, back::DeviceEvent) override {}
  void synchronize() override {}

 private:
  int& launches_;
};

world::Options dry_options(int ranks, bool recipes) {
  world::Options options;
  options.ranks = ranks;
  options.cluster = support::test_cluster();
  options.trace = false;
  options.recipes = recipes;
  use_backend(options, world::Backend::dry);
  return options;
}

/// All that a call has changed on its rank.
std::string state_of(Rank& rank) {
  front::RankFront& front = support::front_of(rank);
  const front::Counters& counters = counters_of(rank);
  const front::MemoryUse use = ledger_of(rank).use();
  std::string text = fmt::format("at {} #{} {} operations {} flops, live {} peak {} of line {}; by kind",
                                 front.rank().now().value(), front.rank().calls().order(), counters.operations,
                                 counters.flops.value(), use.live.value(), use.peak.value(), use.peak_line);
  for (const Bytes bytes : use.live_by_kind) text += fmt::format(" {}", bytes.value());
  for (const Bytes bytes : use.peak_by_kind) text += fmt::format(" {}", bytes.value());
  return text + fmt::format("; saved {}", front.models().saved.alive());
}

std::string label_of(Rank& rank, const ConstView& view) {
  if (!view) return "nothing";
  const front::Label label = support::front_of(rank).memory().storages().at(Access::ref(view).storage).label;
  return fmt::format("micro {} layer {}", label.micro, label.layer);
}

/// A model over all ranks, with what its calls need. Weights have no numbers.
struct DryScene {
  DryScene(Rank& of, const model::ModelSpec& spec, DType dtype, Kind grad_kind)
      : rank(of),
        own{std::make_shared<const model::ModelStructure>(of.size() == 1 ? model::make_structure(spec)
                                                                         : model::make_part(spec, of.size(), of.id())),
            of.size() == 1 ? Group() : of.world()},
        model(Access::model(&own)),
        loss(of.zeros(1, Kind::other)) {
    detail::harness::add_model(rank, own);
    for (int l = 0; l < model.num_layers(); ++l) {
      const Count size = model.size(l);
      weights.push_back(rank.empty(size, Kind::parameter, dtype));
      grads.push_back(rank.empty(size, grad_kind));
      optimizer.push_back({rank.empty(size, Kind::optimizer), rank.empty(size, Kind::optimizer), 0});
    }
  }

  bool has_ids(int layer) const {
    return own.structure->layers[static_cast<std::size_t>(layer)].type == model::LayerStructure::Type::embedding;
  }
  Tensor input_of(int layer, Count s, Count b, DType dtype) {
    if (has_ids(layer)) return rank.empty({s, b}, Kind::activation, DType::i32);
    return rank.empty({s, b, own.structure->layers[static_cast<std::size_t>(layer)].in}, Kind::activation, dtype);
  }

  Rank& rank;
  detail::RankModel own;
  Model model;
  Tensor loss;
  std::vector<Tensor> weights, grads;
  std::vector<OptimizerState> optimizer;
};

/// A few micro-batches forward and backward, as a pipeline has them in flight, and an update. `halves`: of every second
/// one the backward comes in two, the second half after all others.
void train(DryScene& scene, int micro_batches, bool halves = false) {
  const auto layers = static_cast<std::size_t>(scene.model.num_layers());
  std::vector<std::vector<Tensor>> x(static_cast<std::size_t>(micro_batches));
  std::vector<std::vector<Saved>> saved(static_cast<std::size_t>(micro_batches));
  const Count s = 5, b = 3;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i].resize(layers + 1);
    saved[i].resize(layers);
    x[i][0] = scene.input_of(0, s, b, DType::f32);
    for (std::size_t l = 0; l < layers; ++l) {
      const ConstView in = l == 0 ? Access::labelled(ConstView(x[i][0]), static_cast<int>(i)) : ConstView(x[i][l]);
      x[i][l + 1] = scene.model.forward(static_cast<int>(l), scene.weights[l], in, &saved[i][l]);
    }
  }
  const Tensor targets = scene.rank.empty({s, b}, Kind::other, DType::i32);
  for (std::size_t i = 0; i < x.size(); ++i) {
    Tensor grad = scene.model.loss(std::move(x[i][layers]), targets, s * b, scene.loss);
    for (std::size_t l = layers; l-- > 0;) {
      const int number = static_cast<int>(l);
      if (halves && i % 2 == 0) {
        grad = scene.model.backward_input(number, scene.weights[l], x[i][l], saved[i][l], std::move(grad));
        continue;
      }
      grad = scene.model.backward(number, scene.weights[l], x[i][l], std::move(saved[i][l]), std::move(grad),
                                  scene.grads[l]);
      x[i][l] = {};
    }
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t l = 0; l < layers; ++l) {
      if (!saved[i][l]) continue;
      scene.model.backward_weights(static_cast<int>(l), x[i][l], std::move(saved[i][l]), scene.grads[l]);
      x[i][l] = {};
    }
  }
  for (std::size_t l = 0; l < layers; ++l) {
    scene.model.update(static_cast<int>(l), scene.weights[l], scene.grads[l], scene.optimizer[l]);
  }
}

model::ModelSpec dry_gpt() {
  model::ModelSpec spec = gpt(3, 12, 4, 14, 6);
  spec.optimizer = Optimizer::adam;
  return spec;
}

TEST(Recipes, EqualCallsAreMadeOfOperationsOnce) {
  bool halves = false;
  const auto launches_of = [&halves](bool recipes, int micro_batches) {
    int launches = 0;
    world::Options options = dry_options(2, recipes);
    options.make_device = [&launches](int) { return std::make_unique<CountingDevice>(launches); };
    const front::RunReport report = world::run(options, [&](Rank& rank) {
      DryScene scene(rank, dry_gpt(), DType::f32, Kind::gradient);
      train(scene, micro_batches, halves);
    });
    EXPECT_EQ(report.failure ? report.failure->message : "", "");
    return launches;
  };
  // The first two losses are of different forms: what the second one adds to belongs to a micro-batch already.
  EXPECT_EQ(launches_of(true, 4), launches_of(true, 2));
  EXPECT_LT(3 * launches_of(true, 4), launches_of(false, 4));
  EXPECT_GT(launches_of(false, 4), launches_of(false, 2));
  halves = true;
  EXPECT_EQ(launches_of(true, 6), launches_of(true, 4));
  EXPECT_LT(3 * launches_of(true, 6), launches_of(false, 6));
}

/// How a run has ended, and what it has counted.
struct DryOutcome {
  std::vector<std::string> log;
  front::RunReport report;
};

void expect_same_outcome(const DryOutcome& made, const DryOutcome& repeated) {
  ASSERT_EQ(made.log.size(), repeated.log.size());
  for (std::size_t i = 0; i < made.log.size(); ++i) ASSERT_EQ(made.log[i], repeated.log[i]) << "line " << i;
  EXPECT_EQ(made.report.failure ? made.report.failure->message : "",
            repeated.report.failure ? repeated.report.failure->message : "");
  for (std::size_t rank = 0; rank < made.report.ranks.size(); ++rank) {
    EXPECT_TRUE(made.report.ranks[rank].counters == repeated.report.ranks[rank].counters) << "rank " << rank;
  }
}

/// All amounts of memory that are ever alive on a rank.
std::set<std::int64_t> levels_of(int ranks, const std::function<void(Rank&)>& step) {
  world::Options options = dry_options(ranks, false);
  options.trace = true;
  const front::RunReport report = world::run(options, step);
  std::set<std::int64_t> levels;
  for (const front::RankReport& rank : report.ranks) {
    for (const front::MemoryPoint& point : rank.trace.memory) {
      Bytes live;
      for (const Bytes bytes : point.live) live += bytes;
      levels.insert(live.value());
    }
  }
  return levels;
}

/// With too little memory by one byte at each of its levels, where calls are made of operations and where they are
/// repeated.
void expect_same_where_memory_runs_out(int ranks, bool halves) {
  const auto step = [&](Rank& rank) {
    DryScene scene(rank, dry_gpt(), DType::f32, Kind::gradient);
    train(scene, 2, halves);
  };
  for (const std::int64_t level : levels_of(ranks, step)) {
    SCOPED_TRACE(fmt::format("{} ranks, {} bytes", ranks, level - 1));
    const auto run = [&](bool recipes) {
      world::Options options = dry_options(ranks, recipes);
      options.capacity = Bytes(level - 1);
      DryOutcome outcome{{}, world::run(options, step)};
      // Repeated calls tell what stays between halves with the line of the first one: the message's first line counts.
      if (auto& failure = outcome.report.failure; halves && failure) {
        failure->message = failure->message.substr(0, failure->message.find('\n'));
      }
      return outcome;
    };
    expect_same_outcome(run(false), run(true));
  }
}

TEST(Recipes, MemoryRunsOutAtEachAllocationAsItDoesWithout) {
  for (const int ranks : {1, 2}) {
    for (const bool halves : {false, true}) expect_same_where_memory_runs_out(ranks, halves);
  }
}

/// Any calls of the model in any order, right ones and wrong ones, of which it goes on after the error.
class RandomProgram {
 public:
  RandomProgram(DryScene& scene, std::uint64_t seed, std::vector<std::string>& log)
      : scene_(scene), random_(seed), log_(log) {}

  void run(int calls) {
    for (int i = 0; i < calls; ++i) {
      std::string what;
      try {
        what = one_call();
      } catch (const Error& error) {
        what = error.what();
      }
      log_.push_back(fmt::format("rank {}: {}; {}", scene_.rank.id(), what, state_of(scene_.rank)));
    }
  }

 private:
  /// What a forward has left.
  struct Kept {
    int layer;
    int micro;
    DType dtype;
    Tensor x, y;
    Saved saved;
    ConstView input() const { return Access::labelled(ConstView(x), micro); }
  };

  int choose(int choices) { return static_cast<int>(random_() % static_cast<unsigned>(choices)); }
  bool seldom() { return choose(12) == 0; }
  std::size_t any_layer() { return static_cast<std::size_t>(choose(scene_.model.num_layers())); }

  std::string one_call() {
    switch (choose(11)) {
      case 0:
      case 1:
      case 2: return forward();
      case 3:
      case 4: return backward();
      case 5:
      case 6: return backward_input();
      case 7: return backward_weights();
      case 8: return loss();
      case 9: return update();
      default: return forget();
    }
  }

  std::string forward() {
    const std::size_t l = any_layer();
    const DType dtype = scene_.weights[l].dtype();
    Kept& kept = kept_.emplace_back(Kept{static_cast<int>(l), choose(3) - 1, dtype, {}, {}, {}});
    kept.x = scene_.input_of(kept.layer, 4 + choose(2), seldom() ? 0 : 2, seldom() ? DType::f32 : dtype);
    const bool saves = !seldom();
    kept.y = scene_.model.forward(kept.layer, scene_.weights[l], kept.input(), saves ? &kept.saved : nullptr);
    return fmt::format("forward of {}: {}", l, label_of(scene_.rank, kept.y));
  }

  std::string backward() {
    if (kept_.empty()) return "nothing to go backward with";
    Kept& kept = kept_[static_cast<std::size_t>(choose(static_cast<int>(kept_.size())))];
    const std::size_t l = seldom() ? any_layer() : static_cast<std::size_t>(kept.layer);
    if (seldom()) kept.micro = choose(3) - 1;
    Tensor grad = kept.y ? clone(kept.y) : Tensor();
    if (grad && choose(2) == 0) grad = scene_.rank.empty(grad.shape(), Kind::buffer, grad.dtype());
    const bool in_the_weights = seldom();
    const View grads = in_the_weights ? View(scene_.weights[l]) : View(scene_.grads[l]);
    const Tensor made = scene_.model.backward(static_cast<int>(l), scene_.weights[l], kept.input(),
                                              std::move(kept.saved), std::move(grad), grads);
    return fmt::format("backward of {}: {}, {}", l, label_of(scene_.rank, made), label_of(scene_.rank, grads));
  }

  std::string backward_input() {
    if (kept_.empty()) return "nothing to go backward with";
    Kept& kept = kept_[static_cast<std::size_t>(choose(static_cast<int>(kept_.size())))];
    const std::size_t l = seldom() ? any_layer() : static_cast<std::size_t>(kept.layer);
    if (seldom()) kept.micro = choose(3) - 1;
    Tensor grad = kept.y ? clone(kept.y) : Tensor();
    if (grad && choose(2) == 0) grad = scene_.rank.empty(grad.shape(), Kind::buffer, grad.dtype());
    const Tensor made =
        scene_.model.backward_input(static_cast<int>(l), scene_.weights[l], kept.input(), kept.saved, std::move(grad));
    return fmt::format("backward_input of {}: {}", l, label_of(scene_.rank, made));
  }

  /// Mostly of one that has been through its first half.
  std::string backward_weights() {
    if (kept_.empty()) return "nothing to go backward with";
    Kept& kept = kept_[static_cast<std::size_t>(choose(static_cast<int>(kept_.size())))];
    const std::size_t l = seldom() ? any_layer() : static_cast<std::size_t>(kept.layer);
    const View grads = seldom() ? View(scene_.weights[l]) : View(scene_.grads[l]);
    const ConstView x = choose(3) == 0 ? ConstView() : kept.input();
    scene_.model.backward_weights(static_cast<int>(l), x, std::move(kept.saved), grads);
    return fmt::format("backward_weights of {}: {}", l, label_of(scene_.rank, grads));
  }

  std::string loss() {
    const Count s = 3 + choose(2), b = 2;
    const model::LayerStructure& head = scene_.own.structure->layers.back();
    Tensor logits = scene_.rank.empty({s, b, head.out}, Kind::activation, scene_.weights.back().dtype());
    const Tensor targets = scene_.rank.empty({s, b}, Kind::other, DType::i32);
    const ConstView labelled = Access::labelled(ConstView(targets), choose(3) - 1);
    const Tensor grad = scene_.model.loss(std::move(logits), labelled, seldom() ? 0 : s * b, scene_.loss);
    return fmt::format("loss: {}, {}", label_of(scene_.rank, grad), label_of(scene_.rank, scene_.loss));
  }

  std::string update() {
    const std::size_t l = any_layer();
    const Range mine{0, scene_.model.size(static_cast<int>(l)) / (1 + choose(2))};
    OptimizerState part{scene_.rank.empty(mine.size(), Kind::optimizer),
                        scene_.rank.empty(mine.size(), seldom() ? Kind::buffer : Kind::optimizer), seldom() ? -1 : 3};
    const Tensor factor = choose(2) == 0 ? scene_.rank.empty(1, Kind::other) : Tensor();
    const View grads = seldom() ? View(part.m) : scene_.grads[l].part(mine);
    scene_.model.update(static_cast<int>(l), scene_.weights[l].part(mine), grads, part, factor);
    return fmt::format("update of {}: {}", l, label_of(scene_.rank, scene_.weights[l]));
  }

  std::string forget() {
    if (kept_.empty()) return "nothing to forget";
    kept_.erase(kept_.begin() + choose(static_cast<int>(kept_.size())));
    return "forgotten";
  }

  DryScene& scene_;
  std::mt19937_64 random_;
  std::vector<std::string>& log_;
  std::vector<Kept> kept_;
};

struct DryTrial {
  int ranks;
  model::ModelSpec spec;
  std::uint64_t seed;
  std::int64_t capacity;
};

DryOutcome run_program(const DryTrial& trial, bool recipes) {
  world::Options options = dry_options(trial.ranks, recipes);
  if (trial.capacity > 0) options.capacity = Bytes(trial.capacity);
  if (trial.seed % 3 == 0) options.cluster.uses_table = true;
  DryOutcome outcome;
  outcome.report = world::run(options, [&](Rank& rank) {
    const DType dtype = trial.seed % 4 == 1 ? DType::bf16 : DType::f32;
    DryScene scene(rank, trial.spec, dtype, trial.seed % 5 == 2 ? Kind::buffer : Kind::gradient);
    RandomProgram(scene, trial.seed, outcome.log).run(60);
  });
  return outcome;
}

TEST(Recipes, RandomProgramsDoTheSameWithAndWithout) {
  model::ModelSpec sgd = dry_gpt();
  sgd.optimizer = Optimizer::sgd;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    for (const auto& [ranks, spec] : {std::pair{1, dry_gpt()}, {2, sgd}, {4, dry_gpt()}, {1, mlp(3, 9, 5, 4)}}) {
      SCOPED_TRACE(fmt::format("seed {}, {} ranks", seed, ranks));
      const DryTrial trial{ranks, spec, seed, seed % 2 == 0 ? 0 : 60'000 / ranks};
      expect_same_outcome(run_program(trial, false), run_program(trial, true));
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace shardlings::model_test

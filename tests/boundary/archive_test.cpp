#include "boundary/archive.h"

#include <gtest/gtest.h>

#include <random>

#include "boundary/doubting_port.h"
#include "boundary/learner_function.h"

namespace shardlings::boundary {
namespace {

using detail::Access;
using detail::Ref;

bool same(const Ref& a, const Ref& b) {
  return a.storage == b.storage && a.generation == b.generation && a.offset == b.offset && a.shape == b.shape &&
         a.dtype == b.dtype && a.micro == b.micro;
}

Doubting g_port;  // of all tensors here, which are none: it takes their being dropped for granted

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  Shape shape() {
    switch (below(5)) {
      case 0: return {};
      case 1: return below(9);
      case 2: return {below(9), below(9)};
      case 3: return {below(9), below(9), below(9)};
      default: return {below(9), below(9), below(9), below(9)};
    }
  }
  Ref ref() {
    Ref ref;
    ref.storage = static_cast<std::uint32_t>(random_());
    ref.generation = static_cast<std::uint32_t>(random_());
    ref.offset = below(1 << 20);
    ref.shape = shape();
    ref.dtype = static_cast<DType>(below(5));
    ref.micro = below(4) - 1;
    return ref;
  }
  View view() { return Access::view(nullptr, below(4) == 0 ? Ref() : ref()); }
  Tensor tensor() { return Access::adopt(&g_port, below(4) == 0 ? Ref() : ref()); }
  std::vector<Tensor> tensors() {
    std::vector<Tensor> tensors(static_cast<std::size_t>(below(5)));
    for (Tensor& tensor : tensors) tensor = this->tensor();
    return tensors;
  }
  TrainState state() {
    TrainState state;
    state.weights = tensors();
    state.grads = tensors();
    state.master = tensors();
    state.optimizer.resize(static_cast<std::size_t>(below(5)));
    for (OptimizerState& layer : state.optimizer) {
      layer.m = tensor();
      layer.v = tensor();
      layer.step = below(1000);
    }
    return state;
  }

 private:
  std::mt19937 random_;
};

void expect_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same(Access::ref(a[i]), Access::ref(b[i])));
}

TEST(Archive, KeepsTrainingStates) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    TrainState state = random.state(), arrived;
    Sender sender;
    sender(state);
    const std::string bytes = sender.take();
    Kept kept;
    Receiver receiver(bytes, &g_port, kept);
    receiver(arrived);
    expect_same(state.weights, arrived.weights);
    expect_same(state.grads, arrived.grads);
    expect_same(state.master, arrived.master);
    ASSERT_EQ(state.optimizer.size(), arrived.optimizer.size());
    for (std::size_t l = 0; l < state.optimizer.size(); ++l) {
      EXPECT_TRUE(same(Access::ref(state.optimizer[l].m), Access::ref(arrived.optimizer[l].m)));
      EXPECT_TRUE(same(Access::ref(state.optimizer[l].v), Access::ref(arrived.optimizer[l].v)));
      EXPECT_EQ(state.optimizer[l].step, arrived.optimizer[l].step);
    }
    Forgetter()(state, arrived);  // they are no tensors of any rank
    for (const Tensor& tensor : arrived.weights) EXPECT_FALSE(tensor);
  }
}

TEST(Archive, KeepsPlainThings) {
  const Linear linear{Random(2).view(), Random(3).view(), Random(4).view(), Random(5).view()};
  const AdamStep step{.lr = 0.5F, .beta1 = 0.1F, .beta2 = 0.2F, .eps = 0.3F, .weight_decay = 0.4F, .step = 9};
  const Rectangle part{{1, 2}, {3, 4}};
  const std::vector<Range> ranges{{5, 6}, {7, 8}};
  const Group group = Access::group(nullptr, 7, 2, 5);
  const Shape shape{2, 3, 4};
  MixedPrecision mixed;
  mixed.clean = 5;
  mixed.loss_scale = 1024;
  const AttentionShare share{11, Random(6).view(), Random(7).view(), Random(8).view(), Random(9).view()};
  Sender sender;
  sender(linear, step, part, ranges, group, shape, mixed, share, 3, Count{-4}, 2.5F, true);
  const std::string bytes = sender.take();
  Kept kept;
  Receiver receiver(bytes, nullptr, kept);
  Linear l;
  AdamStep s;
  Rectangle p;
  std::vector<Range> r;
  Group g;
  Shape sh;
  MixedPrecision m;
  AttentionShare a;
  int i = 0;
  Count c = 0;
  float f = 0;
  bool b = false;
  receiver(l, s, p, r, g, sh, m, a, i, c, f, b);
  EXPECT_TRUE(same(Access::ref(l.weight), Access::ref(linear.weight)));
  EXPECT_TRUE(same(Access::ref(l.grad_bias), Access::ref(linear.grad_bias)));
  EXPECT_EQ(s.weight_decay, 0.4F);
  EXPECT_EQ(s.step, 9);
  EXPECT_EQ(p, part);
  EXPECT_EQ(r, ranges);
  EXPECT_EQ(Access::id(g), 7U);
  EXPECT_EQ(g.rank(), 2);
  EXPECT_EQ(g.size(), 5);
  EXPECT_EQ(sh, shape);
  EXPECT_EQ(m.clean, 5);
  EXPECT_EQ(m.loss_scale, 1024);
  EXPECT_EQ(a.sequence, 11);
  EXPECT_TRUE(same(Access::ref(a.kv), Access::ref(share.kv)));
  EXPECT_TRUE(same(Access::ref(a.lse), Access::ref(share.lse)));
  EXPECT_EQ(i, 3);
  EXPECT_EQ(c, -4);
  EXPECT_EQ(f, 2.5F);
  EXPECT_TRUE(b);
}

enum class Choice : std::uint8_t { one, two };

/// What a question could be about: nobody has listed its members.
struct Asked {
  struct Inner {
    std::string name;
    std::vector<double> values;
  };
  Count count = 0;
  double share = 0;
  bool flag = false;
  Choice choice = Choice::one;
  Range range;
  std::vector<Inner> rows;
  std::string text;
};
struct Alone {
  std::vector<int> values;
};

TEST(Archive, KeepsPlainStructsThatNobodyHasListed) {
  static_assert(num_members<Asked>() == 7);
  static_assert(num_members<Asked::Inner>() == 2);
  static_assert(num_members<Alone>() == 1);
  const Asked asked{-5, 0.1, true, Choice::two, {3, 4}, {{"a", {1, 2.5}}, {"", {}}}, "in words"};
  Sender sender;
  sender(asked, std::vector<Alone>{{{7, 8}}, {}});
  const std::string bytes = sender.take();
  Kept kept;
  Receiver receiver(bytes, nullptr, kept);
  Asked arrived;
  std::vector<Alone> alone;
  receiver(arrived, alone);
  EXPECT_EQ(arrived.count, -5);
  EXPECT_EQ(arrived.share, 0.1);
  EXPECT_TRUE(arrived.flag);
  EXPECT_EQ(arrived.choice, Choice::two);
  EXPECT_EQ(arrived.range, (Range{3, 4}));
  ASSERT_EQ(arrived.rows.size(), 2U);
  EXPECT_EQ(arrived.rows[0].name, "a");
  EXPECT_EQ(arrived.rows[0].values, (std::vector<double>{1, 2.5}));
  EXPECT_TRUE(arrived.rows[1].values.empty());
  EXPECT_EQ(arrived.text, "in words");
  ASSERT_EQ(alone.size(), 2U);
  EXPECT_EQ(alone[0].values, (std::vector<int>{7, 8}));
  Forgetter()(arrived, alone);
  EXPECT_EQ(arrived.text, "in words") << "it owns no tensor";
}

// As where nothing crosses: a call that uses them is refused before it is one.
TEST(Archive, LeavesWhatIsEmptyWithoutAPort) {
  Sender sender;
  sender(Group(), View(), Tensor());
  const std::string bytes = sender.take();
  Receiver receiver(bytes, &g_port, g_port);
  Group group = Access::group(&g_port, 3, 1, 2);
  View view;
  Tensor tensor;
  receiver(group, view, tensor);
  EXPECT_FALSE(group);
  EXPECT_EQ(Access::port(group), nullptr);
  EXPECT_EQ(Access::port(view), nullptr);
  EXPECT_EQ(Access::port(tensor), nullptr);
}

TEST(Archive, SendsTheStructureOfAModelOnce) {
  model::ModelSpec spec;
  spec.layers = 3;
  detail::RankModel own{std::make_shared<const model::ModelStructure>(model::make_structure(spec)),
                        Access::group(nullptr, 2, 1, 4), 11};
  KnownModels known;
  Kept kept;
  std::size_t first_size = 0;
  for (int i = 0; i < 2; ++i) {
    Sender sender(&known);
    sender(Access::model(&own));
    const std::string bytes = sender.take();
    if (i == 0) first_size = bytes.size();
    if (i == 1) {
      EXPECT_LT(bytes.size(), first_size);
    }
    Receiver receiver(bytes, nullptr, kept);
    Model model;
    receiver(model);
    EXPECT_EQ(model.num_layers(), 3);
    EXPECT_EQ(model.total(), own.structure->total);
    EXPECT_EQ(Access::rank_model(model)->tp.size(), 4);
    for (int l = 0; l < 3; ++l) {
      ASSERT_EQ(model.entries(l).size(), own.structure->layers[static_cast<std::size_t>(l)].entries.size());
      EXPECT_STREQ(model.entries(l)[0].name, "weight");
      EXPECT_EQ(model.range(l), own.structure->layers[static_cast<std::size_t>(l)].range);
    }
  }
}

TEST(Archive, AsksWhetherATensorThatComesBackIsOne) {
  Sender sender;
  sender(View(), Access::view(nullptr, Random(6).ref()));
  const std::string bytes = sender.take();
  Receiver receiver(bytes, &g_port, g_port);
  View empty, invented;
  EXPECT_NO_THROW(receiver(empty));
  EXPECT_THROW(receiver(invented), InvalidArgument);
}

// --- What a learner's function is given, and what comes back of it.

Shape g_seen;

Tensor change(TrainState& state, const std::vector<Range>& ranges, Shape shape, Tensor& out) {
  g_seen = shape;
  state.weights.clear();
  state.optimizer.at(0).step = static_cast<int>(ranges.at(0).end);
  static_cast<void>(Access::release(std::move(out)));
  Ref ref;
  ref.storage = 42;
  return Access::adopt(&g_port, ref);
}

const Registered registered_change("change", &change);

TEST(LearnerFunction, IsCalledDirectlyWhereItsCodeIs) {
  constexpr LearnerFunction<Tensor(TrainState&, const std::vector<Range>&, Shape, Tensor&)> call("change");
  TrainState state;
  state.optimizer.resize(1);
  Tensor out;
  Tensor made = call(state, {{3, 8}}, {4, 5}, out);
  EXPECT_EQ(Access::release(std::move(made)).storage, 42U);
  EXPECT_EQ(state.optimizer[0].step, 8);
  EXPECT_EQ(g_seen, (Shape{4, 5}));
}

TEST(LearnerFunction, IsServedFromBytes) {
  Random random(8);
  TrainState state = random.state();
  state.optimizer.resize(1);
  Tensor out = Access::adopt(&g_port, random.ref());
  Sender sender;
  sender(state, std::vector<Range>{{3, 8}}, Shape{6}, out);
  const std::string bytes = sender.take();
  Kept kept;
  Receiver in(bytes, &g_port, kept);
  const Registered* function = Registered::find("change");
  ASSERT_NE(function, nullptr);
  const Answer answer = function->call(in);
  EXPECT_EQ(answer.topic, Topic::returned);
  EXPECT_EQ(g_seen, Shape(6));
  Forgetter()(state, out);
  Receiver back(answer.bytes, &g_port, kept);
  Tensor result;
  back(state, out, result);
  EXPECT_TRUE(state.weights.empty());
  EXPECT_EQ(state.optimizer[0].step, 8);
  EXPECT_FALSE(out);
  EXPECT_EQ(Access::ref(result).storage, 42U);
  Forgetter()(state, result);
}

TEST(LearnerFunction, ThatIsNowhereSaysSo) {
  EXPECT_EQ(Registered::find("nothing"), nullptr);
  constexpr LearnerFunction<void(int)> call("nothing");
  EXPECT_THROW(call(1), std::logic_error);
}

}  // namespace
}  // namespace shardlings::boundary

// Operations and whole training steps: the same bits on every device that runs the same kernels, and the same counts.
#include <gtest/gtest.h>

#include <algorithm>

#include "api/access.h"
#include "api/call.h"
#include "api/harness_calls.h"
#include "api/rank_model.h"
#include "contract/on_every_world.h"
#include "front/handlers.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using detail::Access;
using detail::Verb;
using front::RunReport;
using support::load;
using support::publish;

class Computation : public OnEveryWorld {};

Tensor numbers(Rank& rank, const Shape& shape, DType dtype, std::uint64_t seed) {
  Tensor values = rank.empty(shape, Kind::activation, dtype);
  random_normal(values, seed + static_cast<std::uint64_t>(rank.id()), 0, 1.0F);
  return values;
}

Tensor ids(Rank& rank, const Shape& shape, int limit) {
  std::vector<float> values;
  for (Count i = 0; i < shape.size(); ++i)
    values.push_back(static_cast<float>((5 * i + 3) % (limit + 1) - (i % 7 == 6 ? 1 : 0)));
  for (float& v : values) v = std::min(v, static_cast<float>(limit - 1));
  return load(rank, values, shape, DType::i32);
}

/// Publishes results under numbers.
class Results {
 public:
  explicit Results(Rank& rank) : rank_(rank) {}
  void operator()(ConstView view) { publish(rank_, std::to_string(next_++), view); }

 private:
  Rank& rank_;
  int next_ = 0;
};

void elementwise(Rank& rank, DType dtype, Results& show) {
  Tensor x = numbers(rank, {5, 7}, dtype, 1);
  Tensor y = numbers(rank, {5, 7}, dtype, 2);
  Tensor factor = load(rank, {0.75F});
  add(y, x);
  axpy(y, -0.3F, x);
  scale(y, 1.7F);
  scale_by(y, factor);
  show(y);
  show(clone(y));
  show(cast(y, dtype == DType::bf16 ? DType::f32 : DType::bf16));
  Tensor other = rank.zeros({5, 7}, Kind::other, dtype == DType::bf16 ? DType::f32 : DType::bf16);
  cast_into(other, x);
  show(other);
  show(gelu(x));
  show(gelu_backward(x, y));
  show(relu(x));
  show(relu_backward(x, y));
  Tensor dropped = numbers(rank, {4, 3, 5}, dtype, 16);
  dropout(dropped, 0.4F, {.seed = 9, .stream = 3, .first = 2, .by_position = 7, .by_sequence = 100});
  show(dropped);
  copy(y.part({3, 9}), x.part({0, 6}));
  fill(y.part({20, 22}), 0.5F);
  show(y);
}

/// A part of a whole of 150 elements, whose first block and whose last one are the neighbours', too.
void scaled(Rank& rank, DType dtype, Results& show) {
  Tensor x = numbers(rank, {77}, dtype, 17);
  Tensor scales = rank.empty(scaling_blocks(150), Kind::buffer, DType::e8m0);
  Tensor codes = rank.empty(77, Kind::parameter, DType::e4m3), back = rank.empty(77, Kind::parameter, dtype);
  block_scales(scales, x, 45);
  quantize(codes, x, scales, 45);
  dequantize(back, codes, scales, 45);
  show(scales);
  show(codes);
  show(back);
  fill(scales, 0.3F);
  fill(codes, -7.3F);
  show(scales);
  show(codes);
}

void rows(Rank& rank, DType dtype, Results& show) {
  Tensor x = numbers(rank, {6, 9}, dtype, 3);
  Tensor bias = numbers(rank, {9}, dtype, 4);
  Tensor which = ids(rank, {6}, 9);
  add_bias(x, bias);
  sum_rows_add(bias, x);
  show(bias);
  Tensor top = row_max(x);
  show(softmax(x));
  show(softmax_backward(softmax(x), x));
  show(pick(x, which, {2, 11}));
  exp_minus_row(x, top);
  Tensor sums = row_sum(x);
  divide_rows(x, sums);
  scale_rows(x, top);
  add_at(x, which, {0, 9}, -1.0F);
  show(x);
  const Tensor largest = top_k(x, 4);
  show(largest);
  show(embedding(largest, x.reshaped({54, 1}), {0, 54}));
  show(slice_cols(x, {2, 5}));
  show(concat_cols({x, x}));
  show(concat_rows({x, x}));
}

void layers(Rank& rank, DType dtype, Results& show) {
  Tensor x = numbers(rank, {6, 2, 8}, dtype, 5);
  Tensor weight = numbers(rank, {8}, dtype, 6);
  Tensor bias = numbers(rank, {8}, dtype, 7);
  Tensor stats;
  Tensor y = layer_norm(x, weight, bias, &stats);
  Tensor grad_weight = rank.zeros({8}, Kind::gradient, dtype);
  Tensor grad_bias = rank.zeros({8}, Kind::gradient, dtype);
  show(y);
  show(layer_norm_backward(x, weight, stats, y, grad_weight, grad_bias));
  show(grad_weight);
  Tensor qkv = numbers(rank, {6, 2, 24}, dtype, 8);
  Tensor inner;
  Tensor context = attention(qkv, 2, &inner);
  show(context);
  show(attention_backward(qkv, 2, std::move(inner), context));
  Tensor kv = numbers(rank, {10, 2, 4}, dtype, 15);
  const AttentionPart part{.heads = 2, .first_query = 9, .first_key = 6, .document = 7};
  Tensor lse, other_lse;
  Tensor whole = partial_attention(x, kv, part, &lse);
  const Tensor others = partial_attention(x, kv, {.heads = 2, .first_query = 11}, &other_lse);
  merge_attention(whole, lse, others, other_lse);
  show(whole);
  show(lse);
  Tensor grad_x = rank.zeros({6, 2, 8}, Kind::gradient, dtype), grad_kv = rank.zeros({10, 2, 4}, Kind::gradient, dtype);
  partial_attention_backward_add(grad_x, grad_kv, x, kv, whole, lse, context, part);
  show(grad_x);
  show(grad_kv);
  Tensor table = numbers(rank, {10, 8}, dtype, 9);
  Tensor words = ids(rank, {6, 2}, 10);
  Tensor embedded = embedding(words, table, {0, 10});
  Tensor positions = numbers(rank, {6, 8}, dtype, 10);
  add_positions(embedded, positions);
  sum_positions_add(positions, embedded);
  embedding_backward_add(table, words, {0, 10}, embedded);
  show(table);
  show(positions);
}

void products(Rank& rank, DType dtype, Results& show) {
  Tensor square = numbers(rank, {9, 9}, dtype, 11);
  Tensor other = numbers(rank, {9, 9}, dtype, 12);
  for (const Trans trans : {nn, nt, tn, tt}) {
    show(matmul(square, other, trans));
    matmul_add(other, square, square, trans);
  }
  show(other);
}

void loss_and_optimizers(Rank& rank, Results& show) {
  Tensor logits = numbers(rank, {8, 11}, DType::f32, 13);
  Tensor targets = ids(rank, {8}, 11);
  Tensor loss = rank.zeros(1, Kind::other);
  Tensor top = row_max(logits);
  Tensor hit = pick(logits, targets, {0, 11});
  Tensor shifted = clone(logits);
  exp_minus_row(shifted, top);
  Tensor sums = row_sum(shifted);
  loss_add(loss, sums, hit, top, targets, 8);
  Tensor grad = cross_entropy(std::move(logits), targets, 8, loss);
  show(loss);
  show(grad);
  Tensor squares = rank.zeros(1, Kind::other);
  Tensor flag = rank.zeros(1, Kind::other);
  add_squares(squares, grad);
  flag_nonfinite(flag, grad);
  Tensor factor = clip_factor(squares, 0.01F);
  Tensor w = numbers(rank, 88, DType::f32, 14);
  Tensor m = rank.zeros(88, Kind::optimizer);
  Tensor v = rank.zeros(88, Kind::optimizer);
  adam(w, grad, m, v, {}, factor, flag);
  sgd(w, grad, 0.1F, factor);
  show(w);
  show(v);
  fill(flag, rank.read(squares));
  show(flag);
}

void all_operations(Rank& rank, DType dtype) {
  Results show(rank);
  elementwise(rank, dtype, show);
  scaled(rank, dtype, show);
  rows(rank, dtype, show);
  layers(rank, dtype, show);
  products(rank, dtype, show);
  if (dtype == DType::f32) loss_and_optimizers(rank, show);
}

TEST_P(Computation, OfEveryOperation) {
  run(
      2, [](Rank& rank) { all_operations(rank, DType::bf16); }, kCloseBf16);
  const RunReport report = run(
      2, [](Rank& rank) { all_operations(rank, DType::f32); }, kCloseF32);
  for (int verb = static_cast<int>(Verb::matmul); verb <= static_cast<int>(Verb::flag_nonfinite); ++verb) {
    const std::string name = detail::name_of(static_cast<Verb>(verb));
    const std::vector<std::string>& made = report.ranks[0].trace.names;
    EXPECT_TRUE(std::find(made.begin(), made.end(), name) != made.end()) << name << " is not tested here";
  }
}

/// Two steps of data-parallel training with gradient sums in flight while the backward pass goes on. `halves`: backward
/// of each layer in two, the gradients of the weights after those of all inputs, from the first layer on.
void train(Rank& rank, const model::ModelStructure& structure, Count sequence, Count batch, bool halves = false) {
  detail::RankModel own{std::make_shared<const model::ModelStructure>(structure), {}};
  detail::harness::add_model(rank, own);
  const Model model = Access::model(&own);
  const int last = model.num_layers();
  const bool tokens = structure.spec.family == model::ModelSpec::Family::gpt;
  std::vector<Tensor> weights, grads;
  std::vector<OptimizerState> optimizer(static_cast<std::size_t>(last));
  for (int l = 0; l < last; ++l) {
    weights.push_back(rank.empty(model.size(l), Kind::parameter));
    random_normal(weights.back(), 42, model.range(l).begin, 0.2F);
    grads.push_back(rank.zeros(model.size(l), Kind::gradient));
    if (structure.spec.optimizer == model::ModelSpec::Optimizer::adam) {
      optimizer[static_cast<std::size_t>(l)].m = rank.zeros(model.size(l), Kind::optimizer);
      optimizer[static_cast<std::size_t>(l)].v = rank.zeros(model.size(l), Kind::optimizer);
    }
  }
  Tensor targets = ids(rank, {sequence, batch}, static_cast<int>(structure.spec.outputs));
  Tensor loss = rank.zeros(1, Kind::other);
  for (int step = 0; step < 2; ++step) {
    std::vector<Tensor> x;
    std::vector<Saved> saved(static_cast<std::size_t>(last));
    x.push_back(tokens ? ids(rank, {sequence, batch}, static_cast<int>(structure.spec.outputs))
                       : numbers(rank, {sequence, batch, structure.spec.hidden}, DType::f32, 77));
    for (int l = 0; l < last; ++l) {
      const auto i = static_cast<std::size_t>(l);
      x.push_back(model.forward(l, weights[i], x[i], &saved[i]));
    }
    Tensor grad = model.loss(std::move(x.back()), targets, sequence * batch * rank.size(), loss);
    std::vector<Work> sums;
    for (int l = last - 1; l >= 0 && halves; --l) {
      const auto i = static_cast<std::size_t>(l);
      grad = model.backward_input(l, weights[i], x[i], saved[i], std::move(grad));
    }
    for (int k = 0; k < last; ++k) {
      const int l = halves ? k : last - 1 - k;
      const auto i = static_cast<std::size_t>(l);
      if (halves) {
        model.backward_weights(l, x[i], std::move(saved[i]), grads[i]);
      } else {
        grad = model.backward(l, weights[i], x[i], std::move(saved[i]), std::move(grad), grads[i]);
      }
      sums.push_back(rank.world().all_reduce_async(grads[i], ReduceOp::sum));
    }
    for (Work& work : sums) work.wait();
    for (int l = 0; l < last; ++l) {
      const auto i = static_cast<std::size_t>(l);
      model.update(l, weights[i], grads[i], optimizer[i]);
      fill(grads[i], 0);
    }
  }
  publish(rank, "loss", loss);
  for (int l = 0; l < last; ++l) publish(rank, "weights " + std::to_string(l), weights[static_cast<std::size_t>(l)]);
}

TEST_P(Computation, OfTrainingSteps) {
  model::ModelSpec gpt;
  gpt.family = model::ModelSpec::Family::gpt;
  gpt.optimizer = model::ModelSpec::Optimizer::adam;
  model::ModelSpec mlp;
  mlp.layers = 3;
  for (const model::ModelSpec& spec : {mlp, gpt}) {
    const model::ModelStructure structure = model::make_structure(spec);
    for (const int ranks : possible({2, 4})) {
      const RunReport report = run(
          ranks, [&](Rank& rank) { train(rank, structure, spec.sequence, 3); }, kCloseF32);
      for (int l = 0; l < static_cast<int>(structure.layers.size()); ++l) {
        const std::string name = "weights " + std::to_string(l);
        support::expect_values(support::published(report, ranks - 1, name), support::published(report, 0, name), name);
      }
      EXPECT_EQ(report.ranks[0].counters.layer_backwards, 2 * static_cast<std::int64_t>(structure.layers.size()));
    }
  }
}

TEST_P(Computation, OfABackwardInHalvesIsThatOfAWhole) {
  model::ModelSpec gpt;
  gpt.family = model::ModelSpec::Family::gpt;
  gpt.optimizer = model::ModelSpec::Optimizer::adam;
  model::ModelSpec mlp;
  mlp.layers = 3;
  for (const model::ModelSpec& spec : {mlp, gpt}) {
    const model::ModelStructure structure = model::make_structure(spec);
    for (const int ranks : possible({2})) {
      const auto trained = [&](bool halves) {
        return run(
            ranks, [&](Rank& rank) { train(rank, structure, spec.sequence, 3, halves); }, kCloseF32);
      };
      const RunReport whole = trained(false), halves = trained(true);
      for (int l = 0; l < static_cast<int>(structure.layers.size()); ++l) {
        const std::string name = "weights " + std::to_string(l);
        support::expect_values(support::published(halves, 0, name), support::published(whole, 0, name), name);
      }
      EXPECT_EQ(halves.ranks[0].counters.layer_backwards, whole.ranks[0].counters.layer_backwards);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(World, Computation, testing::ValuesIn(support::world_kinds()), name_of_world);

}  // namespace
}  // namespace shardlings::contract

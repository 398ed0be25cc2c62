// The formulas of model/memory.h and flops.h, and what learners are told of them, against what is counted.
#include "model/memory.h"

#include <gtest/gtest.h>

#include "base/dtype.h"
#include "front/model/on_model.h"
#include "model/flops.h"

namespace shardlings::model_test {
namespace {

using model::LayerStructure;

/// Measures one call: what is alive beyond `before` at its worst moment, and after it.
class Meter {
 public:
  explicit Meter(Rank& rank) : ledger_(ledger_of(rank)), before_(ledger_.live()) { restart(); }

  void restart() { ledger_.reset_peak({}); }
  Bytes peak() const { return ledger_.use().peak - before_; }
  Bytes held() const { return ledger_.live() - before_; }

 private:
  front::Ledger& ledger_;
  Bytes before_;
};

struct Sizes {
  Count tokens, batch;
  DType dtype;
};

/// What learners are told is what the formulas say.
void check_cost(const LayerCost& cost, const LayerStructure& structure, Sizes n) {
  EXPECT_EQ(Bytes(cost.input), input_bytes(structure, n.tokens, n.dtype));
  EXPECT_EQ(Bytes(cost.output), output_bytes(structure, n.tokens, n.dtype));
  EXPECT_EQ(Bytes(cost.saved), saved_bytes(structure, n.tokens, n.batch, n.dtype));
  EXPECT_EQ(Bytes(cost.forward), forward_peak(structure, n.tokens, n.batch, true, n.dtype));
  EXPECT_EQ(Bytes(cost.backward), backward_peak(structure, n.tokens, n.batch, n.dtype));
  EXPECT_EQ(Bytes(cost.backward_input), backward_input_peak(structure, n.tokens, n.batch, n.dtype));
  EXPECT_EQ(Bytes(cost.kept), kept_bytes(structure, n.tokens, n.dtype));
}

/// The same of the two halves of backward, for weights and gradients of layer l.
struct OfLayer {
  int l;
  ConstView weights;
  View grads;
};
void check_halves(Rank& rank, const Model& model, const OfLayer& of, const LayerStructure& structure, const Tensor& x,
                  Sizes n) {
  Meter meter(rank);
  Saved saved;
  Tensor grad = model.forward(of.l, of.weights, x, &saved);
  meter.restart();
  const Flops before = counters_of(rank).flops;
  grad = model.backward_input(of.l, of.weights, x, saved, std::move(grad));
  const Flops first = counters_of(rank).flops - before;
  EXPECT_EQ(first, model::backward_input_flops(structure, n.tokens, n.batch));
  EXPECT_EQ(meter.peak(), backward_input_peak(structure, n.tokens, n.batch, n.dtype));
  EXPECT_EQ(meter.held(),
            kept_bytes(structure, n.tokens, n.dtype) + (grad ? input_bytes(structure, n.tokens, n.dtype) : Bytes(0)));
  grad = {};
  meter.restart();
  model.backward_weights(of.l, x, std::move(saved), of.grads);
  EXPECT_EQ(counters_of(rank).flops - before - first, model::backward_weights_flops(structure, n.tokens));
  EXPECT_EQ(meter.peak(), kept_bytes(structure, n.tokens, n.dtype));
  EXPECT_EQ(meter.held(), Bytes(0));
}

void check_layer(Rank& rank, OnDevice& on, int l, const LayerStructure& structure, const Tensor& x, Sizes n) {
  const auto at = static_cast<std::size_t>(l);
  const LayerCost cost = on.model.cost(l, n.tokens / n.batch, n.batch, n.dtype);
  check_cost(cost, structure, n);
  Meter meter(rank);
  Saved saved;
  const Flops before = counters_of(rank).flops;
  Tensor y = on.model.forward(l, on.state.weights[at], x, &saved);
  EXPECT_EQ(counters_of(rank).flops - before, Flops(cost.flops));
  EXPECT_EQ(meter.peak(), forward_peak(structure, n.tokens, n.batch, true, n.dtype));
  EXPECT_EQ(meter.held(),
            saved_bytes(structure, n.tokens, n.batch, n.dtype) + output_bytes(structure, n.tokens, n.dtype));
  meter.restart();
  const Flops before_backward = counters_of(rank).flops;
  Tensor grad_x = on.model.backward(l, on.state.weights[at], x, std::move(saved), std::move(y), on.state.grads[at]);
  EXPECT_EQ(counters_of(rank).flops - before_backward, model::backward_flops(structure, n.tokens, n.batch));
  EXPECT_EQ(meter.peak(), backward_peak(structure, n.tokens, n.batch, n.dtype));
  EXPECT_EQ(meter.held(), grad_x ? input_bytes(structure, n.tokens, n.dtype) : Bytes(0));
  grad_x = {};
  EXPECT_EQ(meter.held(), Bytes(0));
  meter.restart();
  y = on.model.forward(l, on.state.weights[at], x, nullptr);
  EXPECT_EQ(meter.peak(), forward_peak(structure, n.tokens, n.batch, false, n.dtype));
  EXPECT_EQ(meter.held(), output_bytes(structure, n.tokens, n.dtype));
}

void check_all_layers_in(DType dtype, const model::ModelSpec& spec, Count batch) {
  SCOPED_TRACE(name_of(dtype));
  const cases::Case kase = case_of(spec, batch);
  const auto structure = model::make_structure(spec);
  const Sizes n{spec.sequence * batch, batch, dtype};
  on_rank([&](Rank& rank) {
    OnDevice on(rank, structure, weights_of(kase));
    for (Tensor& weights : on.state.weights) weights = cast(weights, dtype);
    Tensor x = inputs_of(rank, kase, cases::micro_of(kase, 0, 0));
    if (x.dtype() == DType::f32) x = cast(x, dtype);
    for (int l = 0; l < on.model.num_layers(); ++l) {
      SCOPED_TRACE("layer " + std::to_string(l));
      const LayerStructure& layer = structure.layers[static_cast<std::size_t>(l)];
      check_layer(rank, on, l, layer, x, n);
      const auto at = static_cast<std::size_t>(l);
      check_halves(rank, on.model, {l, on.state.weights[at], on.state.grads[at]}, layer, x, n);
      x = on.model.forward(l, on.state.weights[static_cast<std::size_t>(l)], x, nullptr);
    }
  });
}

void check_all_layers(const model::ModelSpec& spec, Count batch) {
  for (const DType dtype : {DType::f32, DType::bf16}) check_all_layers_in(dtype, spec, batch);
}

TEST(LayerMemory, OfAnMlpIsAsTheFormulasSay) {
  check_all_layers(mlp(3, 9, 5, 4), 3);
  check_all_layers(mlp(2, 5, 40, 4), 3);
  model::ModelSpec uneven = mlp(4, 9, 5, 4);
  uneven.widths = {30, 2, 13};
  check_all_layers(uneven, 3);
}

TEST(LayerMemory, OfAGptIsAsTheFormulasSay) {
  check_all_layers(gpt(1, 12, 3, 7, 5), 3);
  check_all_layers(gpt(1, 8, 4, 50, 9), 2);  // wide logits
  check_all_layers(gpt(1, 4, 4, 3, 40), 2);  // long sequences: mostly probabilities
}

TEST(LayerMemory, OfABlockIsTheTextbooks) {
  const auto structure = model::make_structure(gpt(1, 12, 3, 7, 5));
  const Count tokens = 15, batch = 3;
  const Count a = 4 * tokens * 12, p = 4 * batch * 3 * 5 * 5;
  EXPECT_EQ(saved_bytes(structure.layers[1], tokens, batch), Bytes(15 * a + p + 16 * tokens));
  EXPECT_EQ(backward_peak(structure.layers[1], tokens, batch), Bytes(20 * a + p + 16 * tokens));
  EXPECT_EQ(saved_bytes(structure.layers[0], tokens, batch), Bytes(0));
  EXPECT_EQ(kept_bytes(structure.layers[1], tokens), Bytes(16 * a + 2 * 8 * 12));
  EXPECT_EQ(backward_input_peak(structure.layers[1], tokens, batch), Bytes(24 * a + p + 16 * tokens));
}

// Qi et al. 2024 (arXiv 2401.10241), table 1: products alone, the operations of F, B and W.
TEST(LayerFlops, OfTheHalvesOfABlockAreThePapers) {
  const Count s = 64, b = 2, h = 32;
  const auto structure = model::make_structure(gpt(1, h, 4, 7, s));
  const model::LayerStructure& block = structure.layers[1];
  const Flops input = model::backward_input_flops(block, s * b, b),
              weights = model::backward_weights_flops(block, s * b);
  EXPECT_EQ(input, Flops(s * b * h * (24 * h + 8 * s) + 130 * s * b * h));
  EXPECT_EQ(weights, Flops(24 * s * b * h * h + 9 * s * b * h + 4 * h));
  EXPECT_EQ(model::forward_flops(block, s * b, b), Flops(s * b * h * (24 * h + 4 * s) + 91 * s * b * h));
}

TEST(LayerMemory, LossAndUpdateTakeNone) {
  cases::Case kase = case_of(mlp(1, 6, 5, 4), 3);
  kase.model.optimizer = model::ModelSpec::Optimizer::adam;
  const auto structure = model::make_structure(kase.model);
  on_rank([&](Rank& rank) {
    OnDevice on(rank, structure, weights_of(kase));
    const auto data = cases::micro_of(kase, 0, 0);
    const Tensor x = inputs_of(rank, kase, data), targets = targets_of(rank, kase, data);
    Tensor y = on.model.forward(0, on.state.weights[0], x, nullptr);
    const Meter meter(rank);
    y = on.model.loss(std::move(y), targets, 12, on.loss);
    update(rank, on);
    EXPECT_EQ(meter.peak(), Bytes(0));
    EXPECT_EQ(meter.held(), Bytes(0));
  });
}

}  // namespace
}  // namespace shardlings::model_test

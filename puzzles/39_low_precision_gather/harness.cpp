// Sets the rank up with parts of everything and room for weights in 8 bits, trains as many steps as the case has, and
// publishes what is judged: of each step, since the next one starts from what it has left.

#include "submission/harness.h"

#include <limits>

using namespace shardlings;
using submission::Harness;

SHARDLINGS_LEARNER_FUNCTION(train_step, void(Rank& rank, const Model& model, TrainState& state, ScaledWeights& scaled,
                                             const Batch& batch, View loss));

namespace {

/// No scale and no code that a right step leaves. A scale of zeros would be the least one, and hide that none was
/// written.
constexpr float kUnwritten = std::numeric_limits<float>::quiet_NaN();

/// Room for the codes of this rank's parts and for the scales of all layers, and what the learner is given of it.
struct EightBits {
  std::vector<Tensor> codes;
  Tensor all_scales;
  std::vector<View> scales;  ///< by layer
  ScaledWeights views;

  EightBits(Harness& h, const Model& model) {
    Count blocks = 0;
    for (int l = 0; l < model.num_layers(); ++l) blocks += scaling_blocks(model.size(l));
    all_scales = h.rank().empty(blocks, Kind::parameter, DType::e8m0);
    fill(all_scales, kUnwritten);
    views.all_scales = all_scales;
    Count begin = 0;
    for (int l = 0; l < model.num_layers(); ++l) {
      const Count end = begin + scaling_blocks(model.size(l));
      scales.push_back(all_scales.part({begin, end}));
      begin = end;
      codes.push_back(h.rank().empty(h.rank().world().mine(model.size(l)).size(), Kind::parameter, DType::e4m3));
      fill(codes.back(), kUnwritten);
      h.mark_layer(codes.back(), l);
      views.codes.push_back(codes.back());
    }
    views.scales = scales;
  }
};

/// Gradients of 2 bytes, beside which the optimizer keeps f32.
std::vector<Tensor> gradients(Harness& h, const Model& model) {
  std::vector<Tensor> grads;
  for (int l = 0; l < model.num_layers(); ++l) {
    grads.push_back(h.rank().zeros(h.rank().world().mine(model.size(l)).size(), Kind::gradient, DType::bf16));
    h.mark_layer(grads.back(), l);
  }
  return grads;
}

}  // namespace

SHARDLINGS_HARNESS(h) {
  const Model model = h.model();
  TrainState state = h.state({.divided = {.weights = true, .grads = true, .optimizer = true}, .grads = false});
  state.grads = gradients(h, model);
  EightBits eight(h, model);
  const Batch batch = h.batch();
  Tensor loss = h.rank().zeros(1, Kind::other);
  const Group world = h.rank().world();
  h.begin();
  for (int step = 0; step < h.kase().steps; ++step) {
    if (step > 0) {
      h.clear(state.grads);
      fill(loss, 0);
    }
    train_step(h.rank(), model, state, eight.views, batch, loss);
    const std::string of_step = " of step " + std::to_string(step + 1);
    for (std::size_t l = 0; l < eight.scales.size(); ++l) {
      h.put("scales" + of_step + "." + std::to_string(l), eight.scales[l]);
    }
    h.put_parts("codes" + of_step, eight.codes, world);
    h.put_parts("grads" + of_step, state.grads, world);
    h.put_parts("weights" + of_step, state.weights, world);
    h.put_of_rank("loss" + of_step, loss);
  }
  h.end();
}

#include "shardlings/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "api/access.h"
#include "api/invalid.h"
#include "api/rank_model.h"
#include "model/memory.h"

namespace shardlings {
using detail::throw_invalid;
using model::LayerStructure;

namespace {

/// Of the layer's input if `of_input`, else of its output.
Shape shape_of(const LayerStructure& layer, Shape tokens, bool of_input) {
  if (of_input && layer.type == LayerStructure::Type::embedding) return tokens;
  return {tokens[0], tokens[1], of_input ? layer.in : layer.out};
}

std::string text_of(Range layers) {
  return fmt::format("the stage of layers {} to {}", layers.begin, layers.end - 1);
}

/// The layers are there, and a tensor of each in both lists.
void check_layers(Range layers, Count all, std::size_t weights, std::size_t grads, Location at) {
  const std::string stage = fmt::format("a stage of layers [{}, {})", layers.begin, layers.end);
  if (layers.begin < 0 || layers.size() < 1 || layers.end > all) {
    throw_invalid(fmt::format("{}: the model has layers 0 to {}, and a stage needs one", stage, all - 1), at);
  }
  if (static_cast<std::size_t>(layers.end) <= std::min(weights, grads)) return;
  throw_invalid(
      fmt::format("{}: it looks for weights[{}] and grads[{}], by the layers' numbers in the model, but there are {} "
                  "tensors of weights and {} of gradients",
                  stage, layers.end - 1, layers.end - 1, weights, grads),
      at);
}

/// There is something to add gradients to.
void check_grads(const char* call, Range layers, const std::vector<View>& grads, Location at) {
  const auto missing = std::find_if(grads.begin(), grads.end(), [](const View& grad) { return !grad; });
  if (missing == grads.end()) return;
  throw_invalid(fmt::format("{} of {}: grads[{}] was empty when the stage was made. A Stage keeps views of the tensors "
                            "that it was made with: make it after them",
                            call, text_of(layers), layers.begin + (missing - grads.begin())),
                at);
}

}  // namespace

Stage::Stage(const Model& model, Range layers, Shape tokens, const std::vector<Tensor>& weights,
             std::vector<Tensor>& grads, Location at)
    : model_(model), layers_(layers) {
  const Count all = model.num_layers(at);
  check_layers(layers, all, weights.size(), grads.size(), at);
  const auto& structures = detail::Access::rank_model(model)->structure->layers;
  is_first_ = layers.begin == 0;
  is_last_ = layers.end == all;
  input_ = shape_of(structures[static_cast<std::size_t>(layers.begin)], tokens, true);
  output_ = shape_of(structures[static_cast<std::size_t>(layers.end - 1)], tokens, false);
  for (Count l = layers.begin; l < layers.end; ++l) {
    weights_.push_back(weights[static_cast<std::size_t>(l)]);
    grads_.push_back(grads[static_cast<std::size_t>(l)]);
  }
}

Stage Stage::recomputing() const {
  Stage stage = *this;
  stage.recomputes_ = true;
  return stage;
}

void Stage::check_made(Location at) const {
  if (weights_.empty()) throw_invalid("this Stage was default-constructed: it has no layers", at);
}

Tensor Stage::forward(ConstView x, StageSaved* saved, Location at) const {
  check_made(at);
  if (saved) *saved = {};  // what it held is not needed any more: free it before the new one is made
  StageSaved made;
  made.x_.resize(weights_.size());
  made.saved_.resize(weights_.size());
  Tensor y;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (i > 0) made.x_[i] = std::move(y);
    const int layer = static_cast<int>(layers_.begin) + static_cast<int>(i);
    Saved* kept = saved && !recomputes_ ? &made.saved_[i] : nullptr;
    y = model_.forward(layer, weights_[i], i > 0 ? ConstView(made.x_[i]) : x, kept, at);
    if (!saved) made.x_[i] = {};
  }
  if (saved) *saved = std::move(made);
  return y;
}

void Stage::check_saved(const char* call, const StageSaved& saved, Location at) const {
  if (saved.saved_.size() == weights_.size()) return;
  const char* what = saved ? "the StageSaved is that of another stage"
                           : "the StageSaved is empty: forward was not given it, or a backward has used it up already";
  throw_invalid(fmt::format("{} of {}: {}", call, text_of(layers_), what), at);
}

Tensor Stage::backward(ConstView x, StageSaved&& saved, Tensor&& grad, Location at) const {
  check_made(at);
  StageSaved used = std::move(saved);
  Tensor gradient = std::move(grad);
  check_saved("backward", used, at);
  check_grads("backward", layers_, grads_, at);
  for (std::size_t i = weights_.size(); i-- > 0;) {
    const int layer = static_cast<int>(layers_.begin) + static_cast<int>(i);
    const ConstView input = i > 0 ? ConstView(used.x_[i]) : x;
    if (recomputes_) model_.forward(layer, weights_[i], input, &used.saved_[i], at);  // its output is not needed
    gradient =
        model_.backward(layer, weights_[i], input, std::move(used.saved_[i]), std::move(gradient), grads_[i], at);
    used.x_[i] = {};
  }
  return gradient;
}

Tensor Stage::backward_input(ConstView x, StageSaved& saved, Tensor&& grad, Location at) const {
  check_made(at);
  Tensor gradient = std::move(grad);
  check_saved("backward_input", saved, at);
  const auto& structures = detail::Access::rank_model(model_)->structure->layers;
  for (std::size_t i = weights_.size(); i-- > 0;) {
    const auto layer = static_cast<std::size_t>(layers_.begin) + i;
    const int l = static_cast<int>(layer);
    const ConstView input = i > 0 ? ConstView(saved.x_[i]) : x;
    if (recomputes_) model_.forward(l, weights_[i], input, &saved.saved_[i], at);  // its output is not needed
    gradient = model_.backward_input(l, weights_[i], input, saved.saved_[i], std::move(gradient), at);
    if (!model::weights_read_x(structures[layer])) saved.x_[i] = {};
  }
  return gradient;
}

void Stage::backward_weights(ConstView x, StageSaved&& saved, Location at) const {
  check_made(at);
  StageSaved used = std::move(saved);
  check_saved("backward_weights", used, at);
  check_grads("backward_weights", layers_, grads_, at);
  for (std::size_t i = weights_.size(); i-- > 0;) {
    const int layer = static_cast<int>(layers_.begin) + static_cast<int>(i);
    const ConstView input = i > 0 ? ConstView(used.x_[i]) : x;
    model_.backward_weights(layer, input, std::move(used.saved_[i]), grads_[i], at);
    used.x_[i] = {};
  }
}

}  // namespace shardlings

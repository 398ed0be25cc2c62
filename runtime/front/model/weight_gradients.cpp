#include "front/model/weight_gradients.h"

#include <array>
#include <utility>

#include "api/access.h"

namespace shardlings::front {
namespace {

using Type = model::LayerStructure::Type;

constexpr Product with_bias(std::uint8_t weight, std::uint8_t bias) {
  return {weight, weight, true, bias, bias};
}

namespace block_entries = model::block_entries;

constexpr std::array<Product, 1> kLinearProducts{with_bias(model::linear_entries::weight, model::linear_entries::bias)};
constexpr std::array<Product, 4> kBlockProducts{{with_bias(block_entries::fc2_weight, block_entries::fc2_bias),
                                                 with_bias(block_entries::fc_weight, block_entries::fc_bias),
                                                 with_bias(block_entries::proj_weight, block_entries::proj_bias),
                                                 {block_entries::query_weight, block_entries::value_weight, true,
                                                  block_entries::query_bias, block_entries::value_bias}}};
constexpr std::array<Norm, 2> kBlockNorms{
    {{block_entries::ln2_weight, block_entries::ln2_bias}, {block_entries::ln1_weight, block_entries::ln1_bias}}};
constexpr std::array<Product, 1> kHeadProducts{{{model::head_entries::weight, model::head_entries::weight}}};
constexpr std::array<Norm, 1> kHeadNorms{{{model::head_entries::norm_weight, model::head_entries::norm_bias}}};

void add_product(const Entries<View>& grads, const Product& product, ConstView grad, ConstView input, Location at) {
  if (product.has_bias) sum_rows_add(grads.joined(product.first_bias, product.last_bias), grad, at);
  matmul_add(grads.stacked(product.first, product.last), grad, input, tn, at);
}

/// `sums` are f32. Rounded once, as where a norm's backward adds to gradients of bf16.
void add_sums(View grads, ConstView sums, Location at) {
  if (grads.dtype() == sums.dtype()) return add(grads, sums, at);
  Tensor wide = cast(grads, sums.dtype(), at);
  add(wide, sums, at);
  cast_into(grads, wide, at);
}

/// Of an embedding.
void add_rows(const LayerArguments& layer, const Tensor& grad, const Entries<View>& grads) {
  embedding_backward_add(grads.matrix(model::embedding_entries::token), layer.x, layer.structure.vocabulary, grad,
                         layer.at);
  const Range used{0, layer.x.shape()[0]};
  sum_positions_add(grads.matrix(model::embedding_entries::position).rows_part(used, layer.at), grad, layer.at);
}

}  // namespace

WeightedParts weighted_parts(const model::LayerStructure& layer) {
  switch (layer.type) {
    case Type::linear:
    case Type::linear_gelu: return {kLinearProducts, {}};
    case Type::block: return {kBlockProducts, kBlockNorms};
    case Type::head: return {kHeadProducts, kHeadNorms};
    case Type::embedding: break;
  }
  return {};
}

WeightGradients::WeightGradients(const LayerArguments& layer, std::vector<Tensor>& kept)
    : layer_(layer), parts_(weighted_parts(layer.structure)), kept_(&kept) {
  kept.resize(2 * parts_.products.size() + parts_.norms.size());
}

void WeightGradients::product(std::size_t i, const Tensor& grad, Tensor& input) {
  if (kept_) {
    (*kept_)[2 * i] = std::move(input);
  } else {
    add_product(*grads_, parts_.products[i], grad, input, layer_.at);
    input = {};
  }
}

void WeightGradients::product_with_x(std::size_t i, const Tensor& grad) {
  if (grads_) add_product(*grads_, parts_.products[i], grad, layer_.x, layer_.at);
}

void WeightGradients::done(std::size_t i, Tensor& grad) {
  if (kept_) {
    (*kept_)[2 * i + 1] = std::move(grad);
  } else {
    grad = {};
  }
}

Tensor WeightGradients::norm(std::size_t n, ConstView x, ConstView stats, const Tensor& grad) {
  const Norm& own = parts_.norms[n];
  const ConstView weight = layer_.weights.vector(own.weight);
  if (grads_) {
    return layer_norm_backward(x, weight, stats, grad, grads_->vector(own.weight), grads_->vector(own.bias), layer_.at);
  }
  const Count width = weight.size();
  Rank rank = detail::Access::rank(detail::Access::port(weight), {});
  Tensor sums = rank.zeros(2 * width, Kind::activation, DType::f32, layer_.at);
  Tensor grad_x = layer_norm_backward(x, weight, stats, grad, sums.part({0, width}, layer_.at),
                                      sums.part({width, 2 * width}, layer_.at), layer_.at);
  (*kept_)[2 * parts_.products.size() + n] = std::move(sums);
  return grad_x;
}

const Entries<View>* WeightGradients::embedding(Tensor& grad) {
  if (kept_) kept_->push_back(std::move(grad));
  return grads_;
}

Tensor embedding_backward(const LayerArguments& layer, Tensor grad, WeightGradients& weights) {
  if (const Entries<View>* grads = weights.embedding(grad)) add_rows(layer, grad, *grads);
  return {};
}

void backward_weights_of(const LayerArguments& layer, std::vector<Tensor> kept, const Entries<View>& grads) {
  if (layer.structure.type == Type::embedding) return add_rows(layer, kept.front(), grads);
  const WeightedParts parts = weighted_parts(layer.structure);
  for (std::size_t i = 0; i < parts.products.size(); ++i) {
    Tensor &input = kept[2 * i], &grad = kept[2 * i + 1];
    add_product(grads, parts.products[i], grad, input ? ConstView(input) : layer.x, layer.at);
    input = {};
    grad = {};
  }
  for (std::size_t n = 0; n < parts.norms.size(); ++n) {
    Tensor& sums = kept[2 * parts.products.size() + n];
    add_sums(grads.joined(parts.norms[n].weight, parts.norms[n].bias), sums, layer.at);
    sums = {};
  }
}

}  // namespace shardlings::front

#include "front/model/layers.h"

#include <utility>

#include "front/model/weight_gradients.h"

namespace shardlings::front {
namespace {

using Type = model::LayerStructure::Type;

Tensor linear_forward(const LayerArguments& layer, std::vector<Tensor>* saved) {
  Tensor z = matmul(layer.x, layer.weights.matrix(model::linear_entries::weight), nt, layer.at);
  add_bias(z, layer.weights.vector(model::linear_entries::bias), layer.at);
  if (layer.structure.type == Type::linear) return z;
  Tensor y = gelu(z, layer.at);
  if (saved) saved->push_back(std::move(z));
  return y;
}

Tensor linear_backward(const LayerArguments& layer, std::vector<Tensor> saved, Tensor grad, WeightGradients& weights) {
  if (layer.structure.type == Type::linear_gelu) {
    grad = gelu_backward(saved[0], grad, layer.at);
    saved.clear();
  }
  weights.product_with_x(0, grad);
  Tensor grad_x = matmul(grad, layer.weights.matrix(model::linear_entries::weight), nn, layer.at);
  weights.done(0, grad);
  return grad_x;
}

Tensor embedding_forward(const LayerArguments& layer) {
  const ConstView table = layer.weights.matrix(model::embedding_entries::token);
  Tensor y = embedding(layer.x, table, layer.structure.vocabulary, layer.at);
  layer.add_up(y);  // one rank has the row of an id, the others zeros
  const Range used{0, layer.x.shape()[0]};
  add_positions(y, layer.weights.matrix(model::embedding_entries::position).rows_part(used, layer.at), layer.at);
  return y;
}

Tensor head_forward(const LayerArguments& layer, std::vector<Tensor>* saved) {
  Tensor stats;
  Tensor normed = layer_norm(layer.x, layer.weights.vector(model::head_entries::norm_weight),
                             layer.weights.vector(model::head_entries::norm_bias), saved ? &stats : nullptr, layer.at);
  Tensor logits = matmul(normed, layer.weights.matrix(model::head_entries::weight), nt, layer.at);
  if (saved) {
    saved->push_back(std::move(normed));
    saved->push_back(std::move(stats));
  }
  return logits;
}

Tensor head_backward(const LayerArguments& layer, std::vector<Tensor> saved, Tensor grad, WeightGradients& weights) {
  weights.product(0, grad, saved[0]);
  Tensor grad_normed = matmul(grad, layer.weights.matrix(model::head_entries::weight), nn, layer.at);
  weights.done(0, grad);
  layer.add_up(grad_normed);
  return weights.norm(0, layer.x, saved[1], grad_normed);
}

}  // namespace

Tensor forward_of(const LayerArguments& layer, std::vector<Tensor>* saved) {
  switch (layer.structure.type) {
    case Type::linear:
    case Type::linear_gelu: return linear_forward(layer, saved);
    case Type::embedding: return embedding_forward(layer);
    case Type::block: return block_forward(layer, saved);
    case Type::head: return head_forward(layer, saved);
  }
  return {};
}

Tensor backward_of(const LayerArguments& layer, std::vector<Tensor> saved, Tensor grad, WeightGradients& weights) {
  switch (layer.structure.type) {
    case Type::linear:
    case Type::linear_gelu: return linear_backward(layer, std::move(saved), std::move(grad), weights);
    case Type::embedding: return embedding_backward(layer, std::move(grad), weights);
    case Type::block: return block_backward(layer, std::move(saved), std::move(grad), weights);
    case Type::head: return head_backward(layer, std::move(saved), std::move(grad), weights);
  }
  return {};
}

}  // namespace shardlings::front

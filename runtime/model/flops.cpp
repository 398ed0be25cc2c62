#include "model/flops.h"

#include "model/llama.h"
#include "model/operation_flops.h"

namespace shardlings::model {

namespace {

/// For each token: of products with weights, and of those inside of attention, two operations for a multiplication.
struct BlockProducts {
  BlockProducts(const LayerStructure& layer, Count sequence)
      : weights(2 * layer.in * (4 * layer.attended + 2 * layer.wide)), scores(4 * sequence * layer.attended) {}

  Count weights, scores;
};

/// For each token: biases, or what adds up their gradients.
Count biases_of_block(const LayerStructure& layer) {
  return 3 * layer.attended + layer.wide + 2 * layer.out;
}

Count sequence_of(Count tokens, Count batch) {
  return batch > 0 ? tokens / batch : 0;
}

}  // namespace

Flops forward_flops(const LayerStructure& layer, Count tokens, Count batch) {
  if (layer.llama) return llama_forward_flops(layer, tokens, sequence_of(tokens, batch));
  using Type = LayerStructure::Type;
  const Count in = layer.in, out = layer.out, product = 2 * tokens * in * out;
  const Count gelu = kGeluFlops, norm = kNormFlops;
  switch (layer.type) {
    case Type::linear: return Flops(product + tokens * out);
    case Type::linear_gelu: return Flops(product + (1 + gelu) * tokens * out);
    case Type::embedding: return Flops(tokens * out);
    case Type::block: {
      const BlockProducts products(layer, sequence_of(tokens, batch));
      const Count sums = 2 * out, norms = 2 * norm * out;
      return Flops(tokens *
                   (products.weights + products.scores + biases_of_block(layer) + sums + norms + gelu * layer.wide));
    }
    case Type::head: return Flops(product + norm * tokens * in);
  }
  return Flops(0);
}

Flops backward_flops(const LayerStructure& layer, Count tokens, Count batch) {
  if (layer.llama) return llama_backward_flops(layer, tokens, sequence_of(tokens, batch));
  using Type = LayerStructure::Type;
  const Count in = layer.in, out = layer.out, products = 2 * (2 * tokens * in * out);
  const Count gelu = kGeluBackwardFlops, norm = kNormBackwardFlops;
  switch (layer.type) {
    case Type::linear: return Flops(products + tokens * out);
    case Type::linear_gelu: return Flops(products + (1 + gelu) * tokens * out);
    case Type::embedding: return Flops(2 * tokens * out);
    case Type::block: {
      const BlockProducts once(layer, sequence_of(tokens, batch));
      const Count sums = 2 * out, norms = 2 * norm * out;
      return Flops(tokens *
                   (2 * (once.weights + once.scores) + biases_of_block(layer) + sums + norms + gelu * layer.wide));
    }
    case Type::head: return Flops(products + norm * tokens * in);
  }
  return Flops(0);
}

Flops backward_weights_flops(const LayerStructure& layer, Count tokens) {
  using Type = LayerStructure::Type;
  const Count in = layer.in, out = layer.out, product = 2 * tokens * in * out;
  switch (layer.type) {
    case Type::linear:
    case Type::linear_gelu: return Flops(product + tokens * out);
    case Type::embedding: return Flops(2 * tokens * out);
    case Type::block: return Flops(tokens * (BlockProducts(layer, 0).weights + biases_of_block(layer)) + 4 * in);
    case Type::head: return Flops(product + 2 * in);
  }
  return Flops(0);
}

Flops backward_input_flops(const LayerStructure& layer, Count tokens, Count batch) {
  using Type = LayerStructure::Type;
  // Norms alone have something to do in both halves: what they sum is added in the second.
  const Count norms = layer.type == Type::block ? 2 : layer.type == Type::head ? 1 : 0;
  return backward_flops(layer, tokens, batch) - backward_weights_flops(layer, tokens) + Flops(2 * norms * layer.in);
}

Flops loss_flops(Count outputs, Count tokens) {
  return Flops(kLossFlops * tokens * outputs);
}

}  // namespace shardlings::model

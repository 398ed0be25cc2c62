#include "model/llama.h"

#include <algorithm>

#include "base/dtype.h"

namespace shardlings::model {
namespace {

/// For each token: of products with weights, and of those inside of attention, two operations for a multiplication.
Count llama_products(const LayerStructure& block, Count sequence) {
  const Count weights = 2 * block.in * (2 * block.attended + 2 * block.key_values + 3 * block.wide);
  return weights + 4 * sequence * block.attended;
}

/// For each token, what turns positions into queries and keys, or out of their gradients.
Count rotations(const LayerStructure& block) {
  constexpr Count kRotation = 3;
  return kRotation * (block.attended + block.key_values);
}

}  // namespace

Flops llama_forward_flops(const LayerStructure& layer, Count tokens, Count sequence) {
  constexpr Count kRmsNorm = 4;  // square, sum, and two factors
  constexpr Count kSwiglu = 12;  // exp, sum, quotient, and two products
  const Count in = layer.in, out = layer.out;
  if (layer.type == LayerStructure::Type::head) return Flops(tokens * (kRmsNorm * in + 2 * in * out));
  if (layer.type != LayerStructure::Type::block) return Flops(0);
  const Count norms_and_sums = (2 * kRmsNorm + 2) * in;
  return Flops(tokens * (llama_products(layer, sequence) + norms_and_sums + rotations(layer) + kSwiglu * layer.wide));
}

Flops llama_backward_flops(const LayerStructure& layer, Count tokens, Count sequence) {
  constexpr Count kRmsNorm = 9, kSwiglu = 17;  // the header has their parts
  const Count in = layer.in, out = layer.out;
  if (layer.type == LayerStructure::Type::head) return Flops(tokens * (kRmsNorm * in + 4 * in * out));
  if (layer.type != LayerStructure::Type::block) return Flops(tokens * out);
  const Count norms_and_sums = (2 * kRmsNorm + 2) * in;
  return Flops(tokens *
               (2 * llama_products(layer, sequence) + norms_and_sums + rotations(layer) + kSwiglu * layer.wide));
}

Bytes llama_forward_peak(const LayerStructure& block, Count tokens, DType dtype) {
  const auto bytes = [&](Count width) { return bytes_of(tokens * width, dtype); };
  const Bytes x = bytes(block.in), middle = bytes(block.wide);
  return std::max({x + bytes(block.attended + 2 * block.key_values), 2 * x + 2 * middle, x + 3 * middle});
}

Bytes llama_backward_peak(const LayerStructure& block, Count tokens, Bytes saved, DType dtype) {
  const Bytes x = bytes_of(tokens * block.in, dtype), middle = bytes_of(tokens * block.wide, dtype);
  return saved + std::max(x + 2 * middle, 2 * x - 3 * middle);
}

}  // namespace shardlings::model

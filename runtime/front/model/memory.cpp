#include "front/model/memory.h"

#include <algorithm>

#include "front/model/activations.h"

namespace shardlings::detail {
namespace {

constexpr Count kElement = 4;

using Type = LayerPlan::Type;

Bytes statistics(Count tokens) {
  return Bytes(kElement * 2 * tokens);
}
Bytes wide(Count tokens, Count width) {
  return Bytes(kElement * tokens * width);
}

/// What a block keeps, but for x, which is the caller's.
Bytes saved_by_block(const LayerPlan& layer, Count tokens, Count batch) {
  const Count sequence = batch > 0 ? tokens / batch : 0;
  Bytes sum;
  for (const KeptTensor& kept : kept_by_block(layer.in, layer.heads, sequence, batch, {})) sum += kept.bytes;
  return sum - wide(tokens, layer.in);
}

}  // namespace

Bytes output_bytes(const LayerPlan& layer, Count tokens) {
  return wide(tokens, layer.out);
}

Bytes input_bytes(const LayerPlan& layer, Count tokens) {
  return wide(tokens, layer.type == Type::embedding ? 1 : layer.in);
}

Bytes saved_bytes(const LayerPlan& layer, Count tokens, Count batch) {
  switch (layer.type) {
    case Type::linear_gelu: return output_bytes(layer, tokens);
    case Type::block: return saved_by_block(layer, tokens, batch);
    case Type::head: return input_bytes(layer, tokens) + statistics(tokens);
    case Type::linear:
    case Type::embedding: break;
  }
  return Bytes(0);
}

Bytes forward_peak(const LayerPlan& layer, Count tokens, Count batch, bool saving) {
  const Bytes output = output_bytes(layer, tokens);
  if (layer.type == Type::linear_gelu) return 2 * output;
  if (saving) return saved_bytes(layer, tokens, batch) + output;
  if (layer.type == Type::block) return 9 * output;
  if (layer.type == Type::head) return input_bytes(layer, tokens) + output;
  return output;
}

Bytes backward_peak(const LayerPlan& layer, Count tokens, Count batch) {
  const Bytes input = input_bytes(layer, tokens);
  const Bytes output = output_bytes(layer, tokens);
  switch (layer.type) {
    case Type::linear: return output + input;
    case Type::linear_gelu: return std::max(3 * output, output + input);
    case Type::embedding: return output;
    case Type::block: return saved_bytes(layer, tokens, batch) + 5 * output;
    case Type::head: return std::max(output + input, 2 * input) + statistics(tokens);
  }
  return Bytes(0);
}

}  // namespace shardlings::detail

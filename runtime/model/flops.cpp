#include "model/flops.h"

#include "model/operation_flops.h"

namespace shardlings::model {

Flops forward_flops(const LayerStructure& layer, Count tokens, Count batch) {
  using Type = LayerStructure::Type;
  const Count in = layer.in, out = layer.out, sequence = batch > 0 ? tokens / batch : 0;
  const Count product = 2 * tokens * in * out;
  const Count gelu = kGeluFlops, norm = kNormFlops;
  switch (layer.type) {
    case Type::linear: return Flops(product + tokens * out);
    case Type::linear_gelu: return Flops(product + (1 + gelu) * tokens * out);
    case Type::embedding: return Flops(tokens * out);
    case Type::block: {
      const Count products = 2 * in * (4 * layer.attended + 2 * layer.wide), scores = 4 * sequence * layer.attended;
      const Count biases = 3 * layer.attended + layer.wide + 2 * out, sums = 2 * out, norms = 2 * norm * out;
      return Flops(tokens * (products + scores + biases + sums + norms + gelu * layer.wide));
    }
    case Type::head: return Flops(product + norm * tokens * in);
  }
  return Flops(0);
}

}  // namespace shardlings::model

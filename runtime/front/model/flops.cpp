#include "front/model/flops.h"

#include "front/ops/flops.h"

namespace shardlings::detail {

Flops forward_flops(const LayerPlan& layer, Count tokens, Count batch) {
  using Type = LayerPlan::Type;
  const Count in = layer.in, out = layer.out, sequence = batch > 0 ? tokens / batch : 0;
  const Count product = 2 * tokens * in * out;
  const Count gelu = front::kGeluFlops, norm = front::kNormFlops;
  switch (layer.type) {
    case Type::linear: return Flops(product + tokens * out);
    case Type::linear_gelu: return Flops(product + (1 + gelu) * tokens * out);
    case Type::embedding: return Flops(tokens * out);
    case Type::block: {
      const Count biases = 9, sums = 2, norms = 2 * norm, wide_gelu = 4 * gelu;
      return Flops(12 * product + 4 * tokens * sequence * out + (norms + biases + sums + wide_gelu) * tokens * out);
    }
    case Type::head: return Flops(product + norm * tokens * in);
  }
  return Flops(0);
}

}  // namespace shardlings::detail

#include "model/llama.h"

namespace shardlings::model {

Flops llama_forward_flops(const LayerStructure& layer, Count tokens, Count sequence) {
  constexpr Count kRmsNorm = 4;  // square, sum, and two factors
  constexpr Count kRotation = 3;
  constexpr Count kSwiglu = 12;  // exp, sum, quotient, and two products
  const Count in = layer.in, out = layer.out;
  if (layer.type == LayerStructure::Type::head) return Flops(tokens * (kRmsNorm * in + 2 * in * out));
  if (layer.type != LayerStructure::Type::block) return Flops(0);
  const Count products = 2 * in * (2 * layer.attended + 2 * layer.key_values + 3 * layer.wide);
  const Count scores = 4 * sequence * layer.attended;
  const Count norms_and_sums = (2 * kRmsNorm + 2) * in, positions = kRotation * (layer.attended + layer.key_values);
  return Flops(tokens * (products + scores + norms_and_sums + positions + kSwiglu * layer.wide));
}

}  // namespace shardlings::model

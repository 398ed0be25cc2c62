#include "model/activations.h"

namespace shardlings::model {

std::vector<KeptTensor> kept_by_block(Count hidden, int heads, Count sequence, Count batch,
                                      const ActivationFormat& format) {
  return kept_by_block({hidden, heads, hidden, 4 * hidden, hidden, false}, sequence, batch, format);
}

BlockPart part_of_block(const LayerStructure& block) {
  return {block.in, block.heads, block.attended, block.wide, block.key_values, block.llama};
}

std::vector<KeptTensor> kept_by_block(const BlockPart& part, Count sequence, Count batch,
                                      const ActivationFormat& format) {
  constexpr Count kStatisticBytes = 4;
  const Count e = format.element_bytes;
  const Count rows = sequence * batch;
  const Count square = batch * part.heads * sequence * sequence;
  const Bytes width{e * rows * part.hidden}, attended{e * rows * part.attended}, wide{e * rows * part.wide};
  const Bytes keys{e * rows * part.key_values};
  std::vector<KeptTensor> kept = {
      {"x", width},
      {"normed x", width},
      {"queries, keys and values", attended + 2 * keys, true},
      {"attention probabilities", Bytes(e * square), true, true},
      {"context", attended, true},
      {"x plus attention", width},
      {"normed x plus attention", width},
      {part.llama ? "gate and what it opens for" : "input of the GELU", part.llama ? 2 * wide : wide, true},
      {part.llama ? "their product" : "output of the GELU", wide, true}};
  const Count statistics = part.llama ? 2 : 4;  // an RMS norm has no mean
  if (format.statistics) kept.push_back({"statistics of two norms", Bytes(kStatisticBytes * statistics * rows)});
  if (format.dropout && !part.llama) {
    kept.push_back({"two dropout masks", Bytes(2 * rows * part.hidden)});
    kept.push_back({"dropout mask in attention", Bytes(square), true, true});
    kept.push_back({"probabilities after dropout", Bytes(e * square), true, true});
  }
  return kept;
}

}  // namespace shardlings::model

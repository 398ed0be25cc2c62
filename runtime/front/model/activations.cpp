#include "front/model/activations.h"

namespace shardlings::detail {

std::vector<KeptTensor> kept_by_block(Count hidden, int heads, Count sequence, Count batch,
                                      const ActivationFormat& format) {
  constexpr Count kStatisticBytes = 4;
  const Count e = format.element_bytes;
  const Count rows = sequence * batch;
  const Count square = batch * heads * sequence * sequence;
  const Bytes width{e * rows * hidden};
  std::vector<KeptTensor> kept = {{"x", width},
                                  {"normed x", width},
                                  {"queries, keys and values", 3 * width, true},
                                  {"attention probabilities", Bytes(e * square), true, true},
                                  {"context", width, true},
                                  {"x plus attention", width},
                                  {"normed x plus attention", width},
                                  {"input of the GELU", 4 * width, true},
                                  {"output of the GELU", 4 * width, true}};
  if (format.statistics) kept.push_back({"statistics of two norms", Bytes(kStatisticBytes * 4 * rows)});
  if (format.dropout) {
    kept.push_back({"two dropout masks", Bytes(2 * rows * hidden)});
    kept.push_back({"dropout mask in attention", Bytes(square), true, true});
    kept.push_back({"probabilities after dropout", Bytes(e * square), true, true});
  }
  return kept;
}

}  // namespace shardlings::detail

// Wrong numbers of a part's first element, and what codes and scales they leave: for the grader.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "found.h"

namespace shardlings::low_precision {

/// Wrong numbers of a part's first element, and what each is called.
struct KnownFirst {
  const char* diagnosis;
  FirstNumber number;
};
inline std::vector<KnownFirst> known_firsts() {
  return {{"blocks_counted_anew", [](Count, int, int) { return Count{0}; }},
          {"wrong_first", [](Count n, int ranks, int rank) { return right_first(n, ranks, rank) % kScalingBlock; }},
          {"wrong_first", [](Count n, int ranks, int rank) { return right_first(n, ranks, rank) / kScalingBlock; }},
          {"wrong_first", [](Count n, int ranks, int rank) { return rank * (n / ranks); }},
          {"wrong_first", [](Count n, int ranks, int rank) { return rank * part_of(n, ranks, rank).size(); }}};
}

/// Which of them, in block_scales, in quantize or in both, leaves these codes and scales; "" if none does.
inline std::string first_mistake(const Layers& weights, int ranks, const Layers& codes, const Layers& scales) {
  const auto right = in_eight_bits(weights, ranks);
  std::set<std::string> causes;
  for (const KnownFirst& known : known_firsts()) {
    for (const FirstNumbers& firsts :
         {FirstNumbers{known.number, known.number}, FirstNumbers{known.number, right_first},
          FirstNumbers{right_first, known.number}}) {
      const auto mistaken = in_eight_bits(weights, ranks, EightBitMistake::none, firsts);
      if (mistaken != right && same_numbers(codes, codes_of(mistaken)) && same_numbers(scales, scales_of(mistaken))) {
        causes.insert(known.diagnosis);
      }
    }
  }
  if (causes.empty()) return "";
  return causes.size() == 1 ? *causes.begin() : "wrong_first";
}

}  // namespace shardlings::low_precision

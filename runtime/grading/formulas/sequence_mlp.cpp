#include "grading/formulas/sequence_mlp.h"

#include "grading/formulas/tensor_parallel.h"

namespace shardlings::grading::formulas {

std::vector<float> with_part_of(const SequenceMlp& mlp, std::vector<float> weights, int rank) {
  const Range mine = part_of(mlp.middle, mlp.ranks, rank);
  const auto clear = [&](const char* name, Count divisor) {
    const Range range = mlp.entry(name);
    for (Count i = 0; i < range.size(); ++i) {
      const Count place = i / divisor % mlp.middle;
      if (place < mine.begin || place >= mine.end) weights[static_cast<std::size_t>(range.begin + i)] = 0;
    }
  };
  clear("fc.weight", mlp.width);
  clear("fc.bias", 1);
  clear("fc2.weight", 1);
  return weights;
}

std::vector<double> with_own_terms(const SequenceMlp& mlp, const std::vector<std::vector<double>>& of_rank) {
  std::vector<double> mixed = of_rank.front();
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    const int owner = mlp.owner(static_cast<Count>(i) / mlp.width);
    mixed[i] = of_rank[static_cast<std::size_t>(owner)][i];
  }
  return mixed;
}

SequencePeak sequence_peak(const SequenceMlp& mlp) {
  const std::int64_t x = judge::kBytesOfF32 * mlp.elements(), mine = x / mlp.ranks,
                     z = judge::kBytesOfF32 * mlp.tokens * mlp.part();
  const std::int64_t statistics = 2 * judge::kBytesOfF32 * mlp.tokens / mlp.ranks;
  const judge::Formula<Bytes> like_z = judge::named("z", Bytes(z));
  return {
      .planned =
          2 * judge::named("weights", Bytes(judge::kBytesOfF32 * (mlp.part() * (2 * mlp.width + 1) + 3 * mlp.width))) +
          judge::named("x, grad_y", Bytes(2 * mlp.micros * mine)) +
          judge::named("kept by all micro-batches", Bytes(mlp.micros * (mine + statistics + 2 * z))) +
          judge::named("one whole (s, b, h)", Bytes(x)),
      .room = max(2 * like_z, like_z + judge::named("a part of it", Bytes(mine))),
      .kept = judge::named("(s/t, b, h)", Bytes(mine)) + judge::named("statistics", Bytes(statistics)) + 2 * like_z};
}

judge::Formula<Bytes> sequence_wire_bytes(const SequenceMlp& mlp) {
  const Count n = mlp.elements();
  const judge::Formula<Count> share = share_of_others(judge::named("t", mlp.ranks)), m = judge::named("m", mlp.micros);
  const judge::Formula<Bytes> gather = judge::named("an all-gather", Bytes(all_gather_bytes(n, mlp.ranks, mlp.rank)));
  const judge::Formula<Bytes> scatter =
      judge::named("a reduce-scatter", Bytes(reduce_scatter_bytes(n, mlp.ranks, mlp.rank)));
  const auto reduce = [&](const char* name, Count vectors) {
    return judge::named(name, Bytes(all_reduce_bytes(vectors * mlp.width, mlp.ranks, mlp.rank)));
  };
  const judge::Formula<Bytes> one = reduce("an all-reduce of h", 1);
  return simplest(
      share * (m * 5 * judge::named("4 s b h", Bytes(judge::kBytesOfF32 * n)) +
               3 * (2 * judge::named("4 h", Bytes(judge::kBytesOfF32 * mlp.width)))),
      m * (3 * gather + 2 * scatter) + max(3 * one, max(reduce("one of 3 h", 3), one + reduce("one of 2 h", 2))));
}

}  // namespace shardlings::grading::formulas

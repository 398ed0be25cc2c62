#include "grading/formulas/divided_gpt.h"

#include <algorithm>
#include <utility>

#include "case/data.h"
#include "model/memory.h"

namespace shardlings::grading::formulas {
namespace {

/// What attention of the first block is given.
std::vector<double> normed_input(const cases::Case& kase) {
  const DividedGpt gpt(kase);
  std::vector<double> weights = weights_in_double(kase, 0);
  const auto table = static_cast<Count>(weights.size());
  const std::vector<double> block = weights_in_double(kase, 1);
  weights.insert(weights.end(), block.begin(), block.end());
  const auto at = [&](int layer, const char* name) {
    return layer * table + model::entry_of(gpt.structure.layers[static_cast<std::size_t>(layer)], name).range.begin;
  };
  reference::Parts<double> parts;
  parts.push_back(reference::make_embedding<double>(cases::micro_of(kase, 0, 0).ids, gpt.batch, gpt.width,
                                                    at(0, "token"), at(0, "position")));
  parts.push_back(reference::make_norm<double>(gpt.width, at(1, "ln1.weight"), at(1, "ln1.bias")));
  return reference::make_sequence<double>(std::move(parts))->forward(weights, {});
}

/// Weights of one rank's heads of the first block: (3 w, h) of queries, keys and values, their biases, (h, w) of proj.
std::vector<double> weights_of_heads(const cases::Case& kase, const DividedGpt& gpt) {
  const std::vector<double> all = weights_in_double(kase, 1);
  const model::LayerStructure& block = gpt.structure.layers[1];
  const auto at = [&](const char* name) { return model::entry_of(block, name).range.begin; };
  const Count head = gpt.width / gpt.heads, begin = part_of(gpt.heads, gpt.ranks, gpt.rank).begin * head;
  std::vector<double> own;
  const auto append = [&](Count from, Count count) {
    own.insert(own.end(), all.begin() + from, all.begin() + from + count);
  };
  for (Count kind = 0; kind < 3; ++kind) {
    append(at("query.weight") + (kind * gpt.width + begin) * gpt.width, gpt.width_part() * gpt.width);
  }
  for (Count kind = 0; kind < 3; ++kind) append(at("query.bias") + kind * gpt.width + begin, gpt.width_part());
  for (Count row = 0; row < gpt.width; ++row) append(at("proj.weight") + row * gpt.width + begin, gpt.width_part());
  return own;
}

/// All weights of a rank: large ones in parts, vectors of h whole.
Count weights_of_rank(const DividedGpt& gpt) {
  const Count block = gpt.width_part() * (4 * gpt.width + 3) + gpt.middle_part() * (2 * gpt.width + 1) + 6 * gpt.width;
  return 2 * gpt.vocabulary_part() * gpt.width + gpt.sequence * gpt.width + gpt.blocks * block + 2 * gpt.width;
}

/// Bytes of what a block keeps from forward to backward, its input included.
std::int64_t kept_bytes(const DividedGpt& gpt) {
  const Count statistics = 4 * gpt.tokens;
  const Count probabilities = gpt.batch * gpt.heads_part() * gpt.sequence * gpt.sequence;
  return judge::kBytesOfF32 * (4 * gpt.tokens * gpt.width + 4 * gpt.tokens * gpt.width_part() +
                               2 * gpt.tokens * gpt.middle_part() + statistics + probabilities);
}

/// The most that head and loss hold at once beside their input, where they are whole on each rank.
Bytes whole_head_bytes(const DividedGpt& gpt) {
  const Bytes saved = model::saved_bytes(gpt.last(), gpt.tokens, gpt.batch);
  return std::max({model::forward_peak(gpt.last(), gpt.tokens, gpt.batch, true),
                   saved + model::loss_peak(gpt.last(), gpt.vocabulary, gpt.tokens),
                   model::backward_peak(gpt.last(), gpt.tokens, gpt.batch)});
}

}  // namespace

std::vector<double> weights_in_double(const cases::Case& kase, int layer) {
  const std::vector<float> weights = cases::weights_of(kase, layer);
  return {weights.begin(), weights.end()};
}

std::vector<double> embedded_rows(const cases::Case& kase, TakenBegin begin) {
  const DividedGpt gpt(kase);
  const std::vector<double> table = weights_in_double(kase, 0);
  const cases::MicroData data = cases::micro_of(kase, 0, 0);
  std::vector<double> rows(static_cast<std::size_t>(gpt.tokens * gpt.width));
  for (Count token = 0; token < gpt.tokens; ++token) {
    const Count id = data.ids[static_cast<std::size_t>(token)];
    for (int rank = 0; rank < gpt.ranks; ++rank) {
      const Range mine = part_of(gpt.vocabulary, gpt.ranks, rank);
      const Count row = id - taken_begin(gpt.vocabulary, gpt.ranks, rank, begin);
      if (row < 0 || row >= mine.size()) continue;
      for (Count k = 0; k < gpt.width; ++k) {
        rows[static_cast<std::size_t>(token * gpt.width + k)] +=
            table[static_cast<std::size_t>((mine.begin + row) * gpt.width + k)];
      }
    }
  }
  return rows;
}

reference::PartReference attention_of_block_1(const cases::Case& kase) {
  const DividedGpt gpt(kase);
  reference::PartInputs inputs;
  for (int layer = 0; layer < 2; ++layer) {
    const std::vector<float> weights = cases::weights_of(kase, layer);
    inputs.weights.insert(inputs.weights.end(), weights.begin(), weights.end());
  }
  inputs.grad_output.resize(static_cast<std::size_t>(gpt.tokens * gpt.width));
  const model::LayerStructure &table = gpt.structure.layers[0], &block = gpt.structure.layers[1];
  const auto at = [&](const char* name) { return block.range.begin + model::entry_of(block, name).range.begin; };
  const cases::MicroData data = cases::micro_of(kase, 0, 0);
  return reference::part_reference(inputs, [&]<class Real>() {
    reference::Parts<Real> parts;
    parts.push_back(reference::make_embedding<Real>(data.ids, gpt.batch, gpt.width,
                                                    model::entry_of(table, "token").range.begin,
                                                    model::entry_of(table, "position").range.begin));
    parts.push_back(reference::make_norm<Real>(gpt.width, at("ln1.weight"), at("ln1.bias")));
    parts.push_back(reference::make_linear<Real>(gpt.width, 3 * gpt.width, at("query.weight"), at("query.bias")));
    parts.push_back(reference::make_attention<Real>(gpt.batch, gpt.width, static_cast<int>(gpt.heads)));
    parts.push_back(reference::make_linear<Real>(gpt.width, gpt.width, at("proj.weight"), at("proj.bias")));
    return reference::make_sequence<Real>(std::move(parts));
  });
}

std::vector<double> attention_cut(const cases::Case& kase, const std::function<Count(Count)>& heads_of) {
  const DividedGpt gpt(kase);
  std::vector<double> sum =
      slice(weights_in_double(kase, 1), model::entry_of(gpt.structure.layers[1], "proj.bias").range);
  sum = plus_row(std::vector<double>(static_cast<std::size_t>(gpt.tokens * gpt.width)), 1, sum);
  const std::vector<double> normed = normed_input(kase);
  bool differs = false;
  for (int rank = 0; rank < gpt.ranks; ++rank) {
    const DividedGpt own(kase, rank);
    const Count right = own.part(own.heads), heads = heads_of(right), w = own.width_part();
    if (heads <= 0 || w % heads != 0) return {};
    differs = differs || heads != right;
    const std::vector<double> weights = weights_of_heads(kase, own);
    const Count biases = 3 * w * own.width;
    reference::Parts<double> parts;
    parts.push_back(reference::make_linear<double>(own.width, 3 * w, 0, biases));
    parts.push_back(reference::make_attention<double>(own.batch, w, static_cast<int>(heads)));
    parts.push_back(reference::make_linear<double>(w, own.width, biases + 3 * w, reference::kNowhere));
    const std::vector<double> term = reference::make_sequence<double>(std::move(parts))->forward(weights, normed);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += term[i];
  }
  return differs ? sum : std::vector<double>();
}

DividedPeak divided_peak(const DividedGpt& gpt) {
  const std::int64_t x = judge::kBytesOfF32 * gpt.tokens * gpt.width, row = judge::kBytesOfF32 * gpt.tokens;
  const judge::Formula<Bytes> kept = 2 * judge::named("weights", Bytes(judge::kBytesOfF32 * weights_of_rank(gpt))) +
                                     judge::named("batch and loss", Bytes(2 * row + judge::kBytesOfF32)) +
                                     judge::named("kept by blocks", Bytes(gpt.blocks * kept_bytes(gpt)));
  if (!gpt.with_vocabulary) {
    return {.before = kept + judge::named("x", Bytes(x)),
            .at_head = judge::named("the whole head", whole_head_bytes(gpt)),
            .kept = kept.value()};
  }
  return {.before = kept + judge::named("x, normed x", Bytes(2 * x + 2 * row)),
          .at_head = judge::named("logits/t", Bytes(row * gpt.vocabulary_part())) +
                     judge::named("grad_x, 3 rows", Bytes(x + 3 * row)),
          .kept = kept.value()};
}

judge::Formula<Count> divided_large_sums(const DividedGpt& gpt) {
  if (!gpt.with_attention) return judge::named("embedding and head", 2);
  const judge::Formula<Count> of_blocks = 4 * judge::named("L", gpt.blocks);
  return gpt.with_vocabulary ? of_blocks + 2 : of_blocks;
}

judge::Formula<Count> divided_sums(const DividedGpt& gpt) {
  if (!gpt.with_vocabulary) return divided_large_sums(gpt);
  const judge::Formula<Count> of_vocabulary = judge::named("embedding and head", 2) + judge::named("for the loss", 3);
  return gpt.with_attention ? 4 * judge::named("L", gpt.blocks) + of_vocabulary : of_vocabulary;
}

std::vector<Call> divided_calls(const DividedGpt& gpt) {
  const auto sum_of = [&](Count count) {
    return Call{front::Collective::all_reduce, Bytes(all_reduce_bytes(count, gpt.ranks, gpt.rank))};
  };
  std::vector<Call> calls(static_cast<std::size_t>(divided_large_sums(gpt).value()), sum_of(gpt.tokens * gpt.width));
  if (gpt.with_vocabulary) calls.insert(calls.end(), 3, sum_of(gpt.tokens));
  return calls;
}

Count divided_products(const DividedGpt& gpt) {
  return 12 * gpt.divided_blocks() + (gpt.with_vocabulary ? 3 : 0);
}

judge::Formula<Flops> divided_flops(const DividedGpt& gpt) {
  using judge::named;
  const Count block = 4 * gpt.width_part() * gpt.width + 2 * gpt.middle_part() * gpt.width;
  const Count of_head = gpt.with_vocabulary ? gpt.vocabulary_part() * gpt.width : 0;
  const Count matrices = gpt.divided_blocks() * block + of_head;
  const judge::Formula<Count> inside =
      named("L", gpt.divided_blocks()) * named("2 b s s h/t", 2 * gpt.tokens * gpt.sequence * gpt.width_part());
  return named("3 products", 3) * (named("s b", gpt.tokens) * named("matrices/t", matrices) + inside) *
         judge::Formula<Flops>(Flops(2));
}

judge::Formula<Bytes> divided_wire_bytes(const DividedGpt& gpt) {
  const Count large = gpt.tokens * gpt.width;
  const judge::Formula<Count> share = share_of_others(judge::named("t", gpt.ranks));
  const judge::Formula<Count> reduces = folded(divided_large_sums(gpt));
  const auto sent = [&](const char* name, Count count) {
    return judge::named(name, Bytes(all_reduce_bytes(count, gpt.ranks, gpt.rank)));
  };
  const judge::Formula<Bytes> of_large = judge::named("4 s b h", Bytes(judge::kBytesOfF32 * large));
  if (!gpt.with_vocabulary) {
    return simplest(2 * share * (reduces * of_large), reduces * sent("an all-reduce of s b h", large));
  }
  const judge::Formula<Bytes> row = sent("one of s b", gpt.tokens);
  return simplest(2 * share * (reduces * of_large + 3 * judge::named("4 s b", Bytes(judge::kBytesOfF32 * gpt.tokens))),
                  reduces * sent("an all-reduce of s b h", large) +
                      max(3 * row, row + sent("one of 2 s b", 2 * gpt.tokens)));  // two of the three at once
}

}  // namespace shardlings::grading::formulas

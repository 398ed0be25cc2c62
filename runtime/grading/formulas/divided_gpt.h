/// \file
/// A GPT that is divided over ranks, attention by heads and the table by the vocabulary (puzzle 17): a rank's extents,
/// and what embedding and attention give, also where ranks are mistaken about how long parts are.
#pragma once

#include <functional>
#include <vector>

#include "base/parts.h"
#include "case/case.h"
#include "grading/formulas/divided_head.h"
#include "grading/formulas/tensor_parallel.h"
#include "grading/judge/formula.h"
#include "grading/reference/part_reference.h"
#include "model/structure.h"

namespace shardlings::grading::formulas {

/// The case's extents. Parts are those of one rank; of blocks or of the vocabulary, where the case says that they are
/// whole on every rank, they are all of it.
struct DividedGpt {
  explicit DividedGpt(const cases::Case& kase, int of_rank = 0)
      : structure(model::make_structure(kase.model)),
        ranks(kase.ranks),
        rank(of_rank),
        with_attention(kase.numbers.count("only_vocabulary") == 0),
        with_vocabulary(kase.numbers.count("only_attention") == 0),
        blocks(kase.model.layers),
        heads(kase.model.heads),
        batch(kase.batch),
        sequence(kase.model.sequence),
        tokens(sequence * batch),
        width(kase.model.hidden),
        vocabulary(kase.model.outputs) {}
  Count part(Count n) const { return part_of(n, ranks, rank).size(); }
  Count heads_part() const { return with_attention ? part(heads) : heads; }
  Count width_part() const { return heads_part() * (width / heads); }
  Count middle_part() const { return with_attention ? part(4 * width) : 4 * width; }
  Count vocabulary_part() const { return with_vocabulary ? part(vocabulary) : vocabulary; }
  /// Blocks that are divided.
  Count divided_blocks() const { return with_attention ? blocks : 0; }
  const model::LayerStructure& last() const { return structure.layers.back(); }
  int last_number() const { return static_cast<int>(structure.layers.size()) - 1; }

  model::ModelStructure structure;
  int ranks, rank;
  bool with_attention;   ///< blocks are divided by heads, and the learner's
  bool with_vocabulary;  ///< embedding and head are divided by the vocabulary, and the learner's
  Count blocks, heads, batch, sequence, tokens, width, vocabulary;
};

/// Live bytes of a rank while the head's logits are made, which is the peak: what is there already, and what comes on
/// top.
struct DividedPeak {
  judge::Formula<Bytes> before, at_head;
  Bytes kept;  ///< of `before` all but the head's input: weights, gradients, batch, and what blocks keep
};
DividedPeak divided_peak(const DividedGpt& gpt);

/// All-reduces of (s, b, h): four for each block that is divided, two for the vocabulary.
judge::Formula<Count> divided_large_sums(const DividedGpt& gpt);
/// All of its all-reduces.
judge::Formula<Count> divided_sums(const DividedGpt& gpt);
/// The same one by one.
std::vector<Call> divided_calls(const DividedGpt& gpt);
/// Matrix products of a rank outside of attention: twelve for each block, three for the head.
Count divided_products(const DividedGpt& gpt);
/// Operations of all of its products, those of attention included.
judge::Formula<Flops> divided_flops(const DividedGpt& gpt);
/// What a rank sends: those of divided_large_sums, and three of (s, b) for the loss where the vocabulary is divided.
judge::Formula<Bytes> divided_wire_bytes(const DividedGpt& gpt);

/// A layer's first weights.
std::vector<double> weights_in_double(const cases::Case& kase, int layer);

/// What embedding over all ranks gives, without positions, if each rank takes its rows of the table to begin there.
std::vector<double> embedded_rows(const cases::Case& kase, TakenBegin begin);

/// What attention of the first block returns, before the residual.
reference::PartReference attention_of_block_1(const cases::Case& kase);

/// The same if each rank cuts its columns into `heads_of(its own number of heads)` heads; empty if they cannot be cut
/// so, or if that is right.
std::vector<double> attention_cut(const cases::Case& kase, const std::function<Count(Count)>& heads_of);

}  // namespace shardlings::grading::formulas

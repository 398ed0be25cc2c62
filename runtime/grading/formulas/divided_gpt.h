/// \file
/// A GPT that is divided over ranks, attention by heads and the table by the vocabulary (puzzle 17): a rank's extents,
/// and what embedding and attention give, also where ranks are mistaken about how long parts are.
#pragma once

#include <functional>
#include <vector>

#include "base/parts.h"
#include "case/case.h"
#include "grading/formulas/divided_head.h"
#include "grading/judge/formula.h"
#include "grading/reference/part_reference.h"
#include "model/structure.h"

namespace shardlings::grading::formulas {

/// The case's extents. Parts are those of one rank.
struct DividedGpt {
  explicit DividedGpt(const cases::Case& kase, int of_rank = 0)
      : structure(model::make_structure(kase.model)),
        ranks(kase.ranks),
        rank(of_rank),
        blocks(kase.model.layers),
        heads(kase.model.heads),
        batch(kase.batch),
        sequence(kase.model.sequence),
        tokens(sequence * batch),
        width(kase.model.hidden),
        vocabulary(kase.model.outputs) {}
  Count part(Count n) const { return part_of(n, ranks, rank).size(); }
  Count width_part() const { return part(heads) * (width / heads); }
  Count middle_part() const { return part(4 * width); }
  const model::LayerStructure& last() const { return structure.layers.back(); }
  int last_number() const { return static_cast<int>(structure.layers.size()) - 1; }

  model::ModelStructure structure;
  int ranks, rank;
  Count blocks, heads, batch, sequence, tokens, width, vocabulary;
};

/// Live bytes of a rank while the head's logits are made, which is the peak: what is there already, and what comes on
/// top.
struct DividedPeak {
  judge::Formula<Bytes> before, at_head;
};
DividedPeak divided_peak(const DividedGpt& gpt);

/// What a rank sends: all-reduces of (s, b, h), four for each block and two more, and three of (s, b) for the loss.
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

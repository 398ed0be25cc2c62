/// \file
/// The second half of a block, its positions divided over tensor-parallel ranks wherever they are independent
/// (Korthikanti et al. 2022, arXiv 2205.05198, section 4.2.2; puzzle 18): extents, memory and bytes of a rank.
#pragma once

#include <vector>

#include "base/parts.h"
#include "case/case.h"
#include "grading/judge/formula.h"
#include "model/structure.h"

namespace shardlings::grading::formulas {

/// The case's extents. The piece is the second half of the model's first block. Parts are those of one rank.
struct SequenceMlp {
  explicit SequenceMlp(const cases::Case& kase, int of_rank = 0)
      : block(model::make_structure(kase.model).layers.at(1)),
        ranks(kase.ranks),
        rank(of_rank),
        micros(kase.micro_batches),
        sequence(kase.model.sequence),
        batch(kase.batch),
        tokens(sequence * batch),
        width(kase.model.hidden),
        middle(4 * width) {}
  /// Of the middle.
  Count part() const { return part_of(middle, ranks, rank).size(); }
  Range entry(const char* name) const { return model::entry_of(block, name).range; }
  Count elements() const { return tokens * width; }
  /// The rank that has this row of all micro-batches, one behind the other.
  int owner(Count row) const {
    const Count position = row / batch % sequence;
    int rank = 0;
    while (position >= part_of(sequence, ranks, rank).end) ++rank;
    return rank;
  }

  model::LayerStructure block;
  int ranks, rank, micros;
  Count sequence, batch, tokens, width, middle;  // tokens: s b of a micro-batch
};

/// A block's weights with everything of the middle zero but the part of rank `rank`.
std::vector<float> with_part_of(const SequenceMlp& mlp, std::vector<float> weights, int rank);
/// What the ranks hold if nobody adds terms up: each row as its owner's own part of the middle makes it. `of_rank` is
/// by rank what its part makes of all rows.
std::vector<double> with_own_terms(const SequenceMlp& mlp, const std::vector<std::vector<double>>& of_rank);

/// Bytes of a rank at its peak: what is there by plan, and room for what a call makes. `kept` is what stays of one
/// micro-batch from its forward to its backward.
struct SequencePeak {
  judge::Formula<Bytes> planned, room, kept;
};
SequencePeak sequence_peak(const SequenceMlp& mlp);

/// What a rank sends: for each micro-batch three gathers and two scatters of (s, b, h), and in the end the sum of three
/// vectors of h.
judge::Formula<Bytes> sequence_wire_bytes(const SequenceMlp& mlp);

}  // namespace shardlings::grading::formulas

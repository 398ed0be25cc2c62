/// \file
/// How one device packs documents of unequal lengths into sequences (puzzle 43): which tokens a step reads, what each
/// of them has to predict, and what it may see. Every grid of ranks has to equal that.
///
/// Tokens of the data set are numbered document by document. An epoch reads the documents one behind another, in an
/// order of its own, and a cursor counts tokens. A step cuts the next `batch` sequences of s tokens from there on,
/// whatever documents it cuts through; at the end of an epoch the last sequence is shorter. s of the second grid is the
/// case's number `sequence_later`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grading/formulas/data_run.h"

namespace shardlings::grading::formulas {

struct PackedToken {
  Count token = 0;    ///< of the data set
  Count target = -1;  ///< the token of the data set that it has to predict; -1: none
  Count sees = 0;     ///< the first position of its sequence that it may see
  bool operator==(const PackedToken&) const = default;
};

/// The step that begins at a cursor.
struct PackedStep {
  Count cursor = 0;
  Count s = 0;                      ///< tokens of a sequence
  std::vector<PackedToken> tokens;  ///< in the order of one device

  Count size() const { return static_cast<Count>(tokens.size()); }
  /// The last one may be shorter.
  Count sequences() const { return (size() + s - 1) / s; }
  /// How many tokens have a target: the loss is divided by that.
  Count with_target() const;
  /// Of the tokens those of replica r of d, which has a part of the sequences.
  Range part(int d, int r) const;
};

/// Tokens of a sequence in step `step`.
Count packed_length(const DataCase& of, Count step);
PackedStep packed_step_from(const DataCase& of, Count step, Count cursor);
std::vector<PackedStep> all_packed_steps(const DataCase& of);

/// A mistake and what it makes of the step that begins at a cursor: the tokens of replica r of d.
struct KnownPacking {
  const char* diagnosis;
  std::function<std::vector<PackedToken>(const DataCase&, Count step, Count cursor, int d, int r)> tokens;
  /// Another mistake reads tokens of the same numbers: which of them have no target tells the two apart.
  bool told_by_ends = false;
};
/// Those that read other tokens.
std::vector<KnownPacking> known_packings();
/// Those that read the right ones, and let them predict or see others.
std::vector<KnownPacking> known_targets();

}  // namespace shardlings::grading::formulas

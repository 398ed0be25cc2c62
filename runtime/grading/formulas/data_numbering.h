/// \file
/// Which numbers the dropouts of a divided run draw (puzzle 43), by the rule of one device and by those of known
/// mistakes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grading/formulas/data_run.h"

namespace shardlings::grading::formulas {

/// A rank's part of an activation before its dropout.
struct DrawnPart {
  GridPlace place;
  Count cursor = 0;
  Count size = 0;            ///< sequences of the step
  Range sequences, columns;  ///< of the step, of all columns
  Count layer = 0;           ///< of the whole model
  Count layer_of_rank = 0;   ///< among the rank's own
  bool inner = false;
  Count width = 0;
};

/// Which numbers it draws, and where each element of the part has its own.
struct Numbering {
  std::uint64_t more = 0;  ///< by which the seed is larger
  Count stream = 0, first = 0, by_position = 0, by_sequence = 0;
};

using NumberingRule = std::function<Numbering(const DataCase&, const DrawnPart&)>;

Numbering right_numbering(const DataCase& of, const DrawnPart& part);

struct Mask {
  std::string name;
  std::vector<float> values;  ///< (s, B w)
};

/// One mask of all ranks by a rule.
Mask mask_by(const DataCase& of, Count step, const StepRead& read, Count layer, bool inner, const NumberingRule& rule);

/// Calls `look` with each mask until it returns false. Whether it never did.
bool all_masks(const DataCase& of, const NumberingRule& rule, const std::function<bool(const Mask&)>& look);

/// A mistake and the numbers that it draws.
struct KnownNumbering {
  const char* diagnosis;
  NumberingRule rule;
};

std::vector<KnownNumbering> known_numberings();

}  // namespace shardlings::grading::formulas

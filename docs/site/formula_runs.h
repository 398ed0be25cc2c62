/// \file
/// Where formulas stand in prose.
#pragma once

#include <vector>

#include "site/formula_tokens.h"

namespace shardlings::site {

/// Tokens [begin, end) are a formula.
struct FormulaRun {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The longest formulas with a letter in them. A letter that is a word of English, too (a, A, I), or a name of
/// something else (x), counts only beside a sign.
std::vector<FormulaRun> runs_of(const std::vector<Token>& tokens);

/// Whether a letter that is also a word stands for a number here.
bool is_letter_of_formula(const std::vector<Token>& tokens, std::size_t at);
/// An x between two operands, with spaces around it: times.
bool is_times(const std::vector<Token>& tokens, std::size_t at);

}  // namespace shardlings::site

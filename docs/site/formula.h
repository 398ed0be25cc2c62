/// \file
/// Formulas of the lessons as MathML.
///
/// Lessons write formulas so that they read well in a terminal: `t_F`, `w_{l+1}`, `2 (N-1)/N · S/BW`, `sqrt(L/2)`,
/// `max over l of ( … )`, `h²`. In prose they are found where they stand; a block of them is fenced as `formula`. A
/// slash without spaces is a fraction of what stands right beside it, one with spaces is a sign like any other.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace shardlings::site {

/// Prose as HTML: markup escaped, and each formula in it as an element `math`.
std::string prose_with_formulas(std::string_view text);

/// The lines of a block `formula` as one element `math`: aligned at the first sign that compares. Three spaces or more
/// stand before a remark; where most lines have one, remarks have a column of their own.
/// Throws std::runtime_error for a line without anything to calculate in the whole block.
std::string formula_block(const std::string& text);

/// Whether a block of code reads like a formula: a line of it says in two letters or more what something equals.
bool looks_like_formula(const std::string& text);

}  // namespace shardlings::site

/// \file
/// Numbers that a lesson says in words and figures, compared with those of the graders' formulas.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "grading/verdict/prediction.h"

namespace shardlings::cli::author {

/// What stands between the question of that number and the next one in the section "Questions and answers" of after.md,
/// the question included; empty if there is none.
std::string answer_in(std::string_view after, int number);

/// What makes a number of a text one of bytes or of time: its unit beside it, or nothing, as within a table or a sum.
enum class UnitBeside : std::uint8_t { needed, optional };

/// Whether the text has the question's number as `predict` would take it for an answer: "27.5 ms", "21.5 kB",
/// "90 thousand", "10,001". A count needs no unit.
bool says(std::string_view text, const grading::verdict::Question& question, UnitBeside unit = UnitBeside::needed);

/// A problem for each question after the pass whose number the lesson's answer does not say. Ready to print.
std::vector<std::string> answers_missing(const grading::verdict::Predictions& asked, std::string_view after);

/// A problem for each question before the pass whose number after.md, which derives it, says nowhere. Ready to print.
std::vector<std::string> numbers_missing(const grading::verdict::Predictions& asked, std::string_view after);

}  // namespace shardlings::cli::author

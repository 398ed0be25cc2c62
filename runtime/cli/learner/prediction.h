/// \file
/// Answers to what a puzzle asks to be predicted: how they are read, and what is said to them.
#pragma once

#include <optional>
#include <string>

#include "cli/learner/progress.h"
#include "grading/verdict/prediction.h"

namespace shardlings::cli::learner {

using grading::verdict::Question;

/// After so many wrong answers to a question it is time to go on.
inline constexpr int kTries = 3;

/// In what a number without a unit is taken: "bytes", "s" (where the answer is a hundred seconds or more), "ms", "us",
/// "ns", or what is counted; empty where it is asked which of several it is.
std::string unit_asked(const Question& question);

/// What an answer means, in the question's unit: "12.5KiB", "12.5 KB", "18ms", "26_432", "3 calls". Throws UsageError
/// that says what was expected.
double number_in(const std::string& answer, const Question& question);

/// Bytes in K, M or G were rounded.
grading::verdict::Written written_as(const std::string& answer);

/// What is said before the first question: how exact an answer is to be.
inline constexpr const char* kRuleOfAnswers =
    "Times may be off by 1 %, and so may bytes in KB or KiB. Counts, and bytes written in full, are exact while they "
    "are "
    "small. An empty line goes on to the next one.";

/// "25.81 KiB (26432 B)", "13.69 ms", "3 calls": as it was understood.
std::string echo_of(double number, const Question& question);

/// Why a wrong answer, as it was given, is wrong: the known mistake that it comes from, KB mixed up with KiB where one
/// of them was written, or else only whether it is too large. Sentences.
std::string why_wrong(const std::string& answer, const Question& question);

/// "25.81 KiB (26432 B)" and how it comes about.
std::string number_of(const Question& question);

/// Notes an answer to one of the questions that are asked now; others are forgotten.
void note_answer(PastAnswers& past, const grading::verdict::Predictions& asked, const std::string& id, bool right);

}  // namespace shardlings::cli::learner

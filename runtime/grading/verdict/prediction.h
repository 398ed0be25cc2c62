/// \file
/// What a learner is asked to work out before any code is written, or after the pass: questions about one case, each
/// with the number that the grader's formulas give, and the numbers that known mistakes would give.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/words.h"
#include "grading/verdict/unit.h"
#include "grading/verdict/verdict.h"

namespace shardlings::grading::verdict {

/// A wrong way to the number.
struct Misconception {
  std::int64_t value = 0;
  std::string formula;
  std::string reason;  ///< what is wrong with it, in one sentence
};

/// One number to be predicted.
struct Question {
  /// The counter of a run that has the number, where one has it.
  enum class Of : std::uint8_t {
    none,
    peak,       ///< of device memory
    sent,       ///< bytes to other ranks
    sent_out,   ///< of these the bytes to ranks of other nodes
    end,        ///< virtual time
    forwards,   ///< calls of model.forward
    saved,      ///< the most Saved at once
    host_peak,  ///< of the host's memory
    to_host     ///< bytes copied to it
  };
  std::string id;    ///< "peak": a word, which answers are given under
  std::string text;  ///< "How many bytes does each rank send?"
  Unit unit = Unit::bytes;
  std::string counted;  ///< of a plain count: "calls", …
  std::int64_t value = 0;
  std::string formula;  ///< in symbols and in numbers; may be empty
  Of of = Of::none;
  int rank = -1;   ///< whose counter; -1: the largest of all ranks
  int answer = 0;  ///< of a question after the pass: the number of the lesson's answer that tells more; else 0
  std::vector<Misconception> mistakes;
};

inline constexpr Words<Question::Of, 9> kMeasuredWords{
    {"none", "peak", "sent", "sent_out", "end", "forwards", "saved", "host_peak", "to_host"}};

/// When questions are put: before there is any code, or to those who have passed.
enum class When : std::uint8_t { before, after };

/// The questions that one puzzle puts at one time; none if it asks nothing then.
struct Predictions {
  std::string puzzle;
  std::string case_name;
  std::vector<Question> questions;
};

/// Times, rates, and what is large or was rounded by whoever wrote it may be so far from the number, as a part of it.
inline constexpr double kPredictedWithin = 0.01;
/// A known mistake must be so far from it at least, or the two could not be told apart in three figures.
inline constexpr double kMistakenBeyond = 0.002;

/// Smaller counts are predicted exactly, since a forgotten call is the mistake that is looked for.
inline constexpr std::int64_t kCountedExactlyBelow = 1000;
/// And so are fewer bytes, if they are written in full: what is forgotten is often smaller than a hundredth.
inline constexpr std::int64_t kBytesExactlyBelow = 100'000;

/// How an answer was written: "12800", or "12.5KiB", whose figures were rounded.
enum class Written : std::uint8_t { in_full, rounded };

/// `answer` is `value`, exactly or within a hundredth, as said above.
bool is_within(double answer, std::int64_t value, Unit unit, Written written = Written::in_full);
/// The known mistake that gives this answer, of several the one whose number is nearest; nullptr if none does. Within a
/// hundredth of the right number a mistake is meant only where its own number is nearer.
const Misconception* misconception_of(const Question& question, double answer, Written written = Written::in_full);
/// The answer is the number, and not rather that of a known mistake.
bool is_right(const Question& question, double answer, Written written = Written::in_full);

/// What the question's counter holds after a run; nothing if no counter has the number, or the case did not run.
std::optional<std::int64_t> measured(const Question& question, const CaseVerdict& run);

/// What is wrong with the questions, given a run of the solution on their case: a number that the run does not have, a
/// mistake that cannot be told from the truth, and the like. Ready to print.
std::vector<std::string> problems_of(const Predictions& predictions, const Verdict& solution);

/// The same of questions after the pass, which are not about the run of the solution.
std::vector<std::string> problems_of_after(const Predictions& predictions);

std::string to_json(const Predictions& predictions);
/// Reads what to_json wrote. Throws std::runtime_error.
Predictions predictions_from_json(const std::string& text);

}  // namespace shardlings::grading::verdict

/// \file
/// Questions whose answers are numbers: put to somebody at a terminal, or answered on the command line. What is asked,
/// and what is remembered of it, is the affair of who asks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/context.h"
#include "grading/verdict/prediction.h"

namespace shardlings::cli::learner {

/// One answer, read and judged.
struct Answer {
  const grading::verdict::Question* question = nullptr;
  std::string given;
  double number = 0;
  bool right = false;
};

/// Who asks, and what becomes of the answers.
struct Questionnaire {
  std::string name;     ///< "Puzzle 09_data_parallel": who asks, for messages
  std::string command;  ///< "./shardlings predict 09": answers follow it
  std::string done;     ///< "predicted": what a question is that was answered rightly before
  std::string rule;     ///< said before the first question of a dialog
  std::vector<grading::verdict::Question> questions;
  std::function<void()> print_heading;
  std::function<void(const Answer&)> note;
  std::function<bool(const grading::verdict::Question&)> was_right;
  /// What is said of a question once it was answered, or given up; empty: nothing.
  std::function<std::string(const grading::verdict::Question&)> explanation;
  bool explains_all = false;       ///< also those that were not answered
  bool repeats_questions = false;  ///< above a verdict: what is asked may be another thing than when it was read
  std::function<void()> print_count;
};

/// Notes and judges the answers ("peak=12.5KiB"), asks at the terminal if there are none, or, without a terminal, lists
/// the questions. Returns the exit status. Throws UsageError for what is no answer, and for two of one question.
int hold_dialog(const Context& context, const Questionnaire& asked, const std::vector<std::string>& arguments);

/// The same for programs: notes and judges the answers, and prints what `about` then has, with the questions, as one
/// object.
int print_answered(const Context& context, const Questionnaire& asked, const std::vector<std::string>& arguments,
                   const std::function<nlohmann::json()>& about);

/// Lists the questions, explained where that is allowed.
void print_questions(const Context& context, const Questionnaire& asked);

}  // namespace shardlings::cli::learner

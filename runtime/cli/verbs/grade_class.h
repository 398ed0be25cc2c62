/// \file
/// `grade FOLDER`: the submissions of a class.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/context.h"

namespace shardlings::cli::verbs {

struct ClassOptions {
  std::vector<std::string> puzzles;  ///< "09", "01-13"; empty: those that anybody has handed in
  std::vector<std::string> weights;  ///< "09=30"
  std::string due;                   ///< "2026-12-01T18:00:00Z"; empty: none
  std::string diff;                  ///< results.json of an earlier grading; empty: none
  std::string roster;                ///< a list of the class; empty: none
  bool no_bonus = false;             ///< points of bonus checks do not count
  bool byte_order_mark = false;      ///< at the beginning of results.csv
  std::string out;                   ///< folder of results; empty: beside that of the submissions
  std::string part;                  ///< "3/16"; empty: the whole class
  int jobs = 1;

  /// Is anything asked for that only a class has?
  bool any() const {
    const bool says = !due.empty() || !out.empty() || !diff.empty() || !roster.empty() || !part.empty();
    return says || !puzzles.empty() || !weights.empty() || jobs != 1 || no_bonus || byte_order_mark;
  }
};

void add_class_options(VerbOptions& verb, ClassOptions& options);

/// What is the same for every submission.
struct ClassRules {
  std::string seed_file;  ///< empty: none
  int least_tier = 1;
  bool json = false;  ///< the gradebook on standard output
};

/// Grades the folder and writes results.csv, results.json and class.html; of a part it only keeps the verdicts, which a
/// grading of the whole finds. kPassed: all was judged; kNotJudged: some was not.
int grade_class(const Context& context, const std::string& folder, const ClassOptions& options,
                const ClassRules& rules);

}  // namespace shardlings::cli::verbs

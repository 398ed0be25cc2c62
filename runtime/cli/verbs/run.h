/// \file
/// `run` as a function: `watch` calls it on every save.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/context.h"
#include "cli/verbs/backend_option.h"
#include "grading/verdict/feedback.h"

namespace shardlings::cli::verbs {

struct RunOptions {
  std::string puzzle;                      ///< empty: the next one
  std::string file;                        ///< graded as that puzzle; empty: the learner's file
  std::string mutant;                      ///< instead of a file: the name of a wrong solution (author/variants.h)
  std::string right;                       ///< likewise: the name of another right solution
  std::string case_name;                   ///< empty: all cases, or those of the milestone that `puzzle` names ("33a")
  std::optional<std::uint64_t> seed;       ///< instead of the cases' own
  std::vector<std::string> set;            ///< "bucket=300": other numbers of the case
  std::string seed_file;                   ///< holds a secret for the seeds of hidden cases; empty: they have their own
  std::vector<std::string> feedback;       ///< "law", or "3 ranks, hidden=none"
  grading::verdict::FeedbackRules hidden;  ///< what that comes to
  BackendOptions backend;                  ///< where it runs, and in how many processes
  bool jail = false;                       ///< as kJailMeaning says
  int least_tier = 0;                      ///< of the walls of jails (GradeOptions)
  bool json = false;
  std::string graded_for;            ///< what the result says of whose file it is, and for what; empty: nothing
  std::vector<std::string> exports;  ///< "junit=results.xml"
  bool verbose = false;
  int max_lines = 0;                                 ///< of the screen that it is for (TerminalOptions); 0: no limit
  std::ostream* whole = nullptr;                     ///< besides, gets what is printed without a limit
  std::function<void(const std::string&)> progress;  ///< told what is being done; empty: shown on the error stream
};

/// `run`: grades one puzzle.
int run(const Context& context, const RunOptions& options);

/// Options that `run` and `grade` share: which cases, what is told of hidden ones, and in which form.
void add_grading_options(VerbOptions& verb, RunOptions& options);

}  // namespace shardlings::cli::verbs

#include <filesystem>

#include <fmt/format.h>

#include "cli/error.h"
#include "cli/verbs/grade_class.h"
#include "cli/verbs/run.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

namespace {

struct StrangersFile {
  RunOptions run;
  ClassOptions of_class;
  bool trust = false;  ///< in whatever jails there are
};

/// A class is graded by all cases of its puzzles, and told by one table.
void check_no_single(const RunOptions& run) {
  const char* single = !run.case_name.empty()    ? "--case"
                       : run.seed                ? "--seed"
                       : !run.feedback.empty()   ? "--feedback"
                       : !run.exports.empty()    ? "--export"
                       : !run.graded_for.empty() ? "--for"
                       : run.verbose             ? "--verbose"
                                                 : nullptr;
  if (single == nullptr) return;
  throw UsageError(fmt::format("{} is for one file, and {} is a folder of submissions.", single, run.puzzle));
}

}  // namespace

/// `grade`: a file that its grader has not written, behind the walls of tier 1, or not at all; or a folder of them.
static int grade(const Context& context, const StrangersFile& asked) {
  const int least_tier = asked.trust ? 0 : 1;
  if (asked.run.file.empty()) {
    std::error_code error;
    if (!std::filesystem::is_directory(asked.run.puzzle, error)) {
      throw UsageError(
          fmt::format("grade {0}: name the file to grade, as in: ./shardlings grade 09 their.cpp. There is "
                      "no folder of submissions {0} either.",
                      asked.run.puzzle));
    }
    check_no_single(asked.run);
    return grade_class(context, asked.run.puzzle, asked.of_class, {asked.run.seed_file, least_tier, asked.run.json});
  }
  std::error_code error;
  if (asked.of_class.any() && std::filesystem::is_directory(asked.run.puzzle, error)) {
    throw UsageError(fmt::format("{} is one word too many: {} is graded as a folder of submissions.", asked.run.file,
                                 asked.run.puzzle));
  }
  if (asked.of_class.any()) {
    throw UsageError(
        "--puzzles, --weights, --due, --diff, --roster, --no-bonus, --bom, --out, --part and --jobs are for a folder "
        "of "
        "submissions: ./shardlings grade FOLDER");
  }
  if (!asked.run.graded_for.empty() && !asked.run.json) {
    throw UsageError("--for is said in the result: ask for it with --json.");
  }
  RunOptions options = asked.run;
  options.jail = true;
  options.least_tier = least_tier;
  return run(context, options);
}

void add_grade(CommandLine& line) {
  auto [options, verb] = line.verb<StrangersFile>("grade", "grade somebody else's file, or a class, in jails", grade);
  verb.required(
      "PUZZLE", options.run.puzzle,
      "number, id or a part of the name; or a folder of submissions, for which the exit status is 0 if all were "
      "judged, whatever the points, and 3 if something was not");
  verb.positional("FILE", options.run.file, "the file to grade; none for a folder");
  add_grading_options(verb, options.run);
  add_class_options(verb, options.of_class);
  verb.text("--for", options.run.graded_for,
            "with --json: whose file it is, and for what, which the result then says as graded_for");
  verb.flag("--trust", options.trust,
            "also where jails have fewer walls than those of tier 1: you answer for the code");
}

}  // namespace shardlings::cli::verbs

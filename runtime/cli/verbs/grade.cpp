#include "cli/verbs/run.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

namespace {

struct StrangersFile {
  RunOptions run;
  bool trust = false;  ///< in whatever jails there are
};

}  // namespace

/// `grade`: a file that its grader has not written, behind the walls of tier 1, or not at all.
static int grade(const Context& context, const StrangersFile& asked) {
  RunOptions options = asked.run;
  options.jail = true;
  options.least_tier = asked.trust ? 0 : 1;
  return run(context, options);
}

void add_grade(CommandLine& line) {
  auto [options, verb] = line.verb<StrangersFile>("grade", "grade somebody else's file, in jails", grade);
  verb.required("PUZZLE", options.run.puzzle, kNamedPuzzleMeaning);
  verb.required("FILE", options.run.file, "the file to grade");
  add_grading_options(verb, options.run);
  verb.flag("--trust", options.trust,
            "also where jails have fewer walls than those of tier 1: you answer for the code");
}

}  // namespace shardlings::cli::verbs

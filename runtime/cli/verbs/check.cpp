#include <ostream>

#include <fmt/format.h>

#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/terminal/progress_line.h"
#include "cli/verbs/backend_option.h"
#include "cli/verbs/verbs.h"
#include "grading/grade.h"

namespace shardlings::cli::verbs {

using grading::verdict::Status;
using grading::verdict::Verdict;

namespace {

struct CheckOptions {
  std::string puzzle;
  std::string check;
  BackendOptions backend;
  bool jail = false;  ///< as for run
};

void print_failures(const Context& context, const Verdict& verdict, const std::string& id) {
  for (const auto& kase : verdict.cases) {
    for (const auto& check : kase.checks) {
      if (check.id != id || check.passed != false) continue;
      context.out << fmt::format("case {}\n  expected: {}\n  found:    {}\n", kase.kase.name, check.expected,
                                 check.found);
      if (!check.where.file.empty())
        context.out << fmt::format("  where:    {}:{}\n", check.where.file, check.where.line);
      if (!check.diagnosis_text.empty()) context.out << "  " << check.diagnosis_text << '\n';
      context.out << "  again:    " << kase.reproduce << '\n';
    }
  }
}

Verdict graded(const Context& context, const grading::GradeOptions& grade) {
  terminal::ProgressLine line(context);
  line.show("grading");
  return grading::grade_puzzle(grade);
}

/// Of a check without a verdict of its own.
std::string why_none(const Verdict& verdict) {
  switch (verdict.status) {
    case Status::not_judged: return verdict.reason;
    case Status::did_not_build: return "the file does not compile\n" + verdict.build_log;
    case Status::not_implemented: return "the hole is still there: replace not_implemented() by your code";
    case Status::graded:
    case Status::no_check_ran: break;
  }
  return "no case came so far";
}

int report_check(const Context& context, const Verdict& verdict, const grading::verdict::CheckSummary& summary) {
  const std::string name = fmt::format("{} {}", verdict.puzzle, summary.spec.id);
  if (!summary.reason.empty()) {
    context.out << fmt::format("{} was not judged: {}\n", name, summary.reason);
    return kNotJudged;
  }
  if (summary.passed == true) {
    context.out << fmt::format("{} passed: {} points\n", name, summary.earned);
    return kPassed;
  }
  if (summary.passed == false) {
    context.out << name << " failed: " << summary.spec.title << '\n';
    print_failures(context, verdict, summary.spec.id);
  } else if (!summary.blocked_by.empty()) {
    context.out << fmt::format("{} could not be judged: {} failed before\n", name, summary.blocked_by);
  } else {
    context.out << fmt::format("{} could not be judged: {}\n", name, why_none(verdict));
    if (verdict.status == Status::not_judged || verdict.status == Status::no_check_ran) return kNotJudged;
  }
  return kFailed;
}

}  // namespace

/// `check`: the outcome of one check, for ctest. Checks of the same content share one grading.
static int check(const Context& context, const CheckOptions& options) {
  system::refuse_in_handout(context.project, "check");
  const learner::Course course = learner::load_course(context.project);
  const cases::Manifest& puzzle = course.find(options.puzzle);
  if (!puzzle.check(options.check)) {
    std::string message = fmt::format("Puzzle {} has no check \"{}\". It has:", puzzle.id, options.check);
    for (const auto& spec : puzzle.checks) message += " " + spec.id;
    throw UsageError(message);
  }
  grading::GradeOptions grade;
  grade.puzzle_folder = context.project.puzzle_folder(puzzle.id);
  grade.build_folder = context.project.build;
  const auto choice = chosen_backend(context, options.backend, puzzle.cases);
  grade.backend = choice.backend;
  grade.mpi = choice.mpi;
  grade.jailed = options.jail;
  grade.traces = false;
  const Verdict verdict = graded(context, grade);
  for (const auto& summary : verdict.checks) {
    if (summary.spec.id == options.check) return report_check(context, verdict, summary);
  }
  // The verdict is of another puzzle.toml than the one that was read here.
  context.out << fmt::format("{} {} was not judged: {}\n", puzzle.id, options.check, why_none(verdict));
  return kNotJudged;
}

void add_check(CommandLine& line) {
  auto [options, verb] = line.verb<CheckOptions>("check", "the outcome of one check, for ctest", check);
  verb.required("PUZZLE", options.puzzle, kNamedPuzzleMeaning);
  verb.required("CHECK", options.check, "the check's id");
  add_backend_options(verb, options.backend, MpiOptions::none);
  verb.flag("--jail", options.jail, kJailMeaning);
  verb.excludes("--jail", "--backend");
}

}  // namespace shardlings::cli::verbs

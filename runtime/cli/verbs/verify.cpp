#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/author/verification.h"
#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/terminal/progress_line.h"
#include "cli/verbs/backend_option.h"
#include "cli/verbs/verbs.h"
#include "grading/grade.h"
#include "grading/judge/compare.h"
#include "grading/predictions.h"

namespace shardlings::cli::verbs {

using cases::Manifest;
using nlohmann::json;

namespace {

struct VerifyOptions {
  std::vector<std::string> puzzles;  ///< empty: all
  bool json = false;
  int jobs = 2;  ///< submissions graded at once
  BackendOptions backend;
  bool jail = false;   ///< as for run
  bool goals = false;  ///< write every goal.json anew
};

std::vector<Manifest> chosen(const learner::Course& course, const std::vector<std::string>& names) {
  if (names.empty()) return course.puzzles();
  std::vector<Manifest> puzzles;
  for (const std::string& name : names) puzzles.push_back(course.find(name));
  return puzzles;
}

json to_json(const author::Margins& margins) {
  json wrong = nullptr;
  if (margins.mutants) wrong = *margins.mutants;
  return {{"solution", margins.solution}, {"mutants", wrong}, {"nearest", margins.nearest}};
}

/// "solution within 0.04 of the tolerance, wrong outputs at least 1200 times it": authors see how sharp the judge is.
std::string text_of(const author::Margins& margins) {
  std::string text = margins.solution > 0 ? fmt::format("solution within {:.2g} of the tolerance", margins.solution)
                                          : "solution equal to the last bit";
  if (margins.mutants) {
    text += *margins.mutants < grading::judge::kFarthest
                ? fmt::format(", wrong outputs off by at least {:.2g} times it", *margins.mutants)
                : ", wrong outputs differ where nothing may";
  }
  return text;
}

json to_json(const author::PuzzleOutcome& outcome) {
  json mutants = json::array();
  for (const author::MutantOutcome& mutant : outcome.mutants) {
    mutants.push_back(
        {{"name", mutant.name}, {"declared", mutant.declared}, {"found", mutant.found}, {"caught", mutant.caught}});
  }
  json right = json::array();
  for (const author::RightOutcome& variant : outcome.right) {
    right.push_back({{"name", variant.name}, {"passed", variant.passed}});
  }
  json checks = json::array();
  for (const author::CheckOutcome& check : outcome.checks) {
    checks.push_back({{"id", check.id}, {"failed_by", check.failed_by}});
  }
  return {{"id", outcome.id},
          {"solution", outcome.solution_passed ? "passed" : "failed"},
          {"stub", outcome.stub_refused ? "refused" : "not refused"},
          {"mutants", {{"caught", outcome.caught()}, {"total", outcome.mutants.size()}, {"each", mutants}}},
          {"right", {{"passed", outcome.right_passed()}, {"total", outcome.right.size()}, {"each", right}}},
          {"checks", checks},
          {"contract", outcome.promises},
          {"margins", to_json(outcome.margins)},
          {"problems", outcome.problems}};
}

/// "solution passed, stub refused, 24 of 24 mutants caught, 3 of 3 right variants passed, 9 sentences proved".
std::string counts_text(const author::PuzzleOutcome& outcome) {
  std::string text =
      fmt::format("solution {}, stub {}, {} of {} mutants caught", outcome.solution_passed ? "passed" : "FAILED",
                  outcome.stub_refused ? "refused" : "NOT REFUSED", outcome.caught(), outcome.mutants.size());
  if (!outcome.right.empty()) {
    text += fmt::format(", {} of {} right variants passed", outcome.right_passed(), outcome.right.size());
  }
  if (outcome.promises > 0) text += fmt::format(", {} sentences proved", outcome.promises);
  return text;
}

void print(const Context& context, const author::PuzzleOutcome& outcome) {
  context.out << (outcome.good() ? context.tick() : context.cross()) << ' '
              << fmt::format("{:<28} {}\n  {}\n", outcome.id, counts_text(outcome), text_of(outcome.margins));
  for (const std::string& problem : outcome.problems) context.out << "    " << problem << '\n';
}

/// How a file is graded here, as the options say.
author::Grader grade_of(const Context& context, const VerifyOptions& options,
                        const grading::run::BackendChoice& choice) {
  return [&context, &options, choice](const Manifest& puzzle, const std::string& source) {
    grading::GradeOptions grade_options;
    grade_options.puzzle_folder = puzzle.folder;
    grade_options.source = source;
    grade_options.build_folder = context.project.build;
    grade_options.backend = choice.backend;
    grade_options.mpi = choice.mpi;
    grade_options.jailed = options.jail;
    grade_options.traces = source == context.project.solution_file(puzzle.id);  // for the goal
    return grading::grade_puzzle(grade_options);
  };
}

std::vector<author::PuzzleOutcome> verified(const Context& context, const VerifyOptions& options,
                                            const std::vector<Manifest>& puzzles, const author::Grader& grade) {
  terminal::ProgressLine line(context);
  line.show("verifying");
  const author::VerificationOptions how = {options.jobs, options.goals ? author::Goals::write : author::Goals::check,
                                           [&](const Manifest& puzzle, grading::verdict::When when) {
                                             return grading::ask_for_predictions(puzzle.folder, context.project.build,
                                                                                 when);
                                           }};
  return author::verify_puzzles(context.project, puzzles, how, grade,
                                [&](int done, int total, const std::string& what) {
                                  line.show(fmt::format("verifying: {} of {} files, {}", done, total, what));
                                });
}

}  // namespace

/// `verify`: for authors: the solution and other right ones pass, the stub is refused, every mutant is caught by name.
static int verify(const Context& context, const VerifyOptions& options) {
  system::refuse_in_handout(context.project, "verify");
  const learner::Course course = learner::load_course(context.project);
  if (options.puzzles.empty()) learner::tell_of_faulty(context, course);
  const std::vector<Manifest> puzzles = chosen(course, options.puzzles);
  std::vector<cases::Case> cases;
  for (const Manifest& puzzle : puzzles) cases.insert(cases.end(), puzzle.cases.begin(), puzzle.cases.end());
  const auto choice = chosen_backend(context, options.backend, cases);
  const auto outcomes = verified(context, options, puzzles, grade_of(context, options, choice));
  const bool all_whole = !options.puzzles.empty() || course.faulty().empty();
  const bool good = all_whole && std::all_of(outcomes.begin(), outcomes.end(),
                                             [](const author::PuzzleOutcome& o) { return o.good(); });
  if (options.json) {
    json list = json::array();
    for (const author::PuzzleOutcome& outcome : outcomes) list.push_back(to_json(outcome));
    context.out << json{{"puzzles", list}, {"ok", good}}.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
  } else {
    for (const author::PuzzleOutcome& outcome : outcomes) print(context, outcome);
  }
  const bool judged =
      std::all_of(outcomes.begin(), outcomes.end(), [](const author::PuzzleOutcome& o) { return o.judged; });
  if (!judged) return kNotJudged;
  return good ? kPassed : kFailed;
}

void add_verify(CommandLine& line) {
  auto [options, verb] = line.verb<VerifyOptions>(
      "verify", "for authors: right solutions pass, the stub is refused, mutants are caught", verify);
  verb.positional("PUZZLE", options.puzzles, "number, id or a part of the name; without one: all");
  verb.number("-j,--jobs", options.jobs, "submissions graded at once", {1, 64});
  add_backend_options(verb, options.backend);
  verb.flag("--jail", options.jail, kJailMeaning);
  verb.excludes("--jail", "--backend");
  verb.flag("--goals", options.goals, "write every goal.json and goal.svg anew from the solution's run");
  verb.flag("--json", options.json, kJsonMeaning);
}

}  // namespace shardlings::cli::verbs

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/backend.h"
#include "cli/course.h"
#include "cli/error.h"
#include "cli/progress_line.h"
#include "cli/verbs.h"
#include "cli/verification.h"
#include "grading/compare.h"
#include "grading/grade.h"

namespace shardlings::cli {

using grading::Manifest;
using grading::Verdict;
using nlohmann::json;
using report::Role;

namespace {

std::vector<Manifest> chosen(const Course& course, const std::vector<std::string>& names) {
  if (names.empty()) return course.puzzles();
  std::vector<Manifest> puzzles;
  for (const std::string& name : names) puzzles.push_back(course.find(name));
  return puzzles;
}

json to_json(const Margins& margins) {
  json wrong = nullptr;
  if (margins.mutants) wrong = *margins.mutants;
  return {{"solution", margins.solution}, {"mutants", wrong}, {"nearest", margins.nearest}};
}

/// "solution within 0.04 of the tolerance, wrong outputs at least 1200 times it": authors see how sharp the judge is.
std::string text_of(const Margins& margins) {
  std::string text = margins.solution > 0 ? fmt::format("solution within {:.2g} of the tolerance", margins.solution)
                                          : "solution equal to the last bit";
  if (margins.mutants) {
    text += *margins.mutants < grading::kFarthest
                ? fmt::format(", wrong outputs off by at least {:.2g} times it", *margins.mutants)
                : ", wrong outputs differ where nothing may";
  }
  return text;
}

json to_json(const PuzzleOutcome& outcome) {
  json mutants = json::array();
  for (const MutantOutcome& mutant : outcome.mutants) {
    mutants.push_back(
        {{"file", mutant.name}, {"declared", mutant.declared}, {"found", mutant.found}, {"caught", mutant.caught}});
  }
  return {{"id", outcome.id},
          {"solution", outcome.solution_passed ? "passed" : "failed"},
          {"stub", outcome.stub_refused ? "refused" : "not refused"},
          {"mutants", {{"caught", outcome.caught()}, {"total", outcome.mutants.size()}, {"each", mutants}}},
          {"margins", to_json(outcome.margins)},
          {"problems", outcome.problems}};
}

void print(const Context& context, const PuzzleOutcome& outcome) {
  context.out << (outcome.good() ? context.tick() : context.cross()) << ' '
              << fmt::format("{:<28} solution {}, stub {}, mutants {}/{} caught\n", outcome.id,
                             outcome.solution_passed ? "passed" : "FAILED",
                             outcome.stub_refused ? "refused" : "NOT REFUSED", outcome.caught(), outcome.mutants.size())
              << fmt::format("  {}\n", text_of(outcome.margins));
  for (const std::string& problem : outcome.problems) context.out << "    " << problem << '\n';
}

}  // namespace

int verify(const Context& context, const VerifyOptions& options) {
  const std::vector<Manifest> puzzles = chosen(load_course(context.project), options.puzzles);
  std::vector<grading::Case> cases;
  for (const Manifest& puzzle : puzzles) cases.insert(cases.end(), puzzle.cases.begin(), puzzle.cases.end());
  const grading::Backend backend = chosen_backend(context, options.backend, cases);
  const auto grade = [&](const Manifest& puzzle, const std::string& source) {
    grading::GradeOptions grade_options;
    grade_options.puzzle_folder = puzzle.folder;
    grade_options.source = source;
    grade_options.build_folder = context.project.build;
    grade_options.backend = backend;
    grade_options.traces = source == context.project.solution_file(puzzle.id);  // for the goal
    return grading::grade_puzzle(grade_options);
  };
  ProgressLine line(context);
  line.show("verifying");
  const auto outcomes =
      verify_puzzles(context.project, puzzles, {options.jobs, options.goals ? Goals::write : Goals::check}, grade,
                     [&](int done, int total, const std::string& what) {
                       line.show(fmt::format("verifying: {} of {} files, {}", done, total, what));
                     });
  line.end();

  const bool good = std::all_of(outcomes.begin(), outcomes.end(), [](const PuzzleOutcome& o) { return o.good(); });
  if (options.json) {
    json list = json::array();
    for (const PuzzleOutcome& outcome : outcomes) list.push_back(to_json(outcome));
    context.out << json{{"puzzles", list}, {"ok", good}}.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
  } else {
    for (const PuzzleOutcome& outcome : outcomes) print(context, outcome);
  }
  return good ? kPassed : kFailed;
}

}  // namespace shardlings::cli

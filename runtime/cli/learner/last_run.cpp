#include "cli/learner/last_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <stdexcept>

#include "base/file.h"
#include "cli/error.h"
#include "grading/verdict/kept_runs.h"
#include "report/choice.h"

namespace shardlings::cli::learner {

using grading::verdict::CaseVerdict;
using grading::verdict::Verdict;

const cases::Manifest& named_or_last_run(const Context& context, const Course& course, const std::string& name) {
  if (!name.empty()) return course.find(name);
  const std::string last = grading::verdict::last_puzzle(context.project.build);
  if (last.empty()) throw UsageError("No puzzle has been run yet. First: ./shardlings run");
  return course.find(last);
}

void refuse_question(const cases::Manifest& puzzle, const std::string& what) {
  if (!puzzle.question) return;
  throw UsageError(fmt::format(
      "The function of puzzle {0} answers a question: it has no ranks and takes no time, so there is nothing to {1}. "
      "What came of it: ./shardlings run {0}",
      short_name(puzzle), what));
}

Verdict last_run(const Context& context, const cases::Manifest& puzzle) {
  const std::string again = "./shardlings run " + short_name(puzzle);
  auto run = grading::verdict::load_run(context.project.build, puzzle.id, grading::verdict::KeptRun::last);
  if (!run) throw UsageError(fmt::format("Puzzle {} has not been run yet. First: {}", puzzle.id, again));
  const bool traced =
      std::any_of(run->cases.begin(), run->cases.end(), [](const CaseVerdict& c) { return !c.traces.empty(); });
  if (!traced) {
    throw UsageError(
        fmt::format("Nothing ran in the last run of {}, so there is nothing to show: {}", puzzle.id, again));
  }
  return std::move(*run);
}

const CaseVerdict& chosen_case(const Verdict& run, const std::string& name) {
  if (name.empty()) {
    if (const CaseVerdict* best = report::case_to_show(run)) return *best;
    return run.cases.at(0);
  }
  std::string known;
  for (const CaseVerdict& kase : run.cases) {
    if (kase.kase.name == name) return kase;
    known += "\n  " + kase.kase.name;
  }
  throw UsageError(fmt::format("The last run of {} has no case \"{}\". It has:{}", run.puzzle, name, known));
}

void deliver(const Context& context, const std::string& file, const std::string& content, const std::string& what) {
  if (file == "-") {
    context.out << content;
    return;
  }
  try {
    write_file_atomically(file, content);
  } catch (const std::runtime_error& error) {
    throw UsageError(error.what());
  }
  context.out << fmt::format("{}: {}\n", what, file);
}

}  // namespace shardlings::cli::learner

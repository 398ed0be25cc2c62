#include "cli/author/verification.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/beside.h"
#include "base/file.h"
#include "base/mutex.h"
#include "cli/author/contract.h"
#include "cli/author/lesson_numbers.h"
#include "cli/author/variants.h"
#include "cli/learner/goal_picture.h"
#include "cli/learner/outcome.h"
#include "grading/verdict/goal.h"
#include "grading/verdict/run_file.h"

namespace shardlings::cli::author {

namespace fs = std::filesystem;
using cases::Manifest;
using grading::verdict::Predictions;
using grading::verdict::Status;
using grading::verdict::Verdict;
using grading::verdict::When;

namespace {

enum class FileRole { solution, stub, mutant, right };

/// One file to be graded, and what came of it.
struct Task {
  const Manifest* puzzle;
  FileRole role;
  std::string path;  ///< empty for a variant that does not fit the solution
  Variant variant;   ///< what the file of a mutant or a right variant was made from
  Verdict verdict;
  std::string error;  ///< why there is no verdict
};

/// The variant, written out. One that does not fit the solution ends here: there is nothing to grade.
Task task_of(const system::Project& project, const Manifest& puzzle, VariantKind kind, const Variant& variant) {
  Task task{&puzzle, kind == VariantKind::mutant ? FileRole::mutant : FileRole::right, {}, variant, {}, {}};
  try {
    task.path = write_variant(project, puzzle.id, kind, variant);
  } catch (const VariantError& error) {
    task.error = error.what();
  }
  return task;
}

std::vector<Task> tasks_of(const system::Project& project, const std::vector<Manifest>& puzzles,
                           const std::vector<std::string>& stubs) {
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < puzzles.size(); ++i) {
    const Manifest& puzzle = puzzles[i];
    tasks.push_back({&puzzle, FileRole::solution, project.solution_file(puzzle.id), {}, {}, {}});
    tasks.push_back({&puzzle, FileRole::stub, stubs[i], {}, {}, {}});
    for (const VariantKind kind : {VariantKind::mutant, VariantKind::right}) {
      for (const Variant& variant : load_variants(project, puzzle, kind).variants) {
        tasks.push_back(task_of(project, puzzle, kind, variant));
      }
    }
  }
  return tasks;
}

/// How many of the tasks are done.
struct Done {
  Mutex lock;
  int tasks GUARDED_BY(lock) = 0;
};

void grade_all(std::vector<Task>& tasks, int jobs, const Grader& grade, const Progressed& progressed) {
  Done done;
  side_by_side(tasks.size(), jobs, [&](std::size_t i) {
    Task& task = tasks[i];
    try {
      if (task.error.empty()) task.verdict = grade(*task.puzzle, task.path);
    } catch (const std::exception& error) {
      task.error = error.what();
    }
    const MutexLock guard(done.lock);  // one report at a time
    progressed(++done.tasks, static_cast<int>(tasks.size()),
               task.puzzle->id + "/" + fs::path(task.path).filename().string());
  });
}

/// All checks hold, a bonus included.
bool is_perfect(const Verdict& verdict) {
  return verdict.passed && std::all_of(verdict.checks.begin(), verdict.checks.end(),
                                       [](const auto& check) { return check.passed == true; });
}

/// "output: expected …, found …" of the first failed check, or the status.
std::string first_failure(const Verdict& verdict) {
  if (verdict.status == Status::not_judged) return "not judged: " + verdict.reason;
  for (const auto& kase : verdict.cases) {
    for (const auto& check : kase.checks) {
      if (check.passed != false) continue;  // a bonus is asked of solutions, too
      return fmt::format("case {}, check {}: expected {}, found {}", kase.kase.name, check.id, check.expected,
                         check.found);
    }
  }
  const std::string status = name_of(verdict.status);
  return verdict.build_log.empty() ? status : status + ":\n" + verdict.build_log;
}

void verify_solution(const Task& task, PuzzleOutcome& outcome) {
  outcome.solution_passed = task.error.empty() && is_perfect(task.verdict);
  if (outcome.solution_passed) return;
  outcome.problems.push_back("the solution does not pass: " +
                             (task.error.empty() ? first_failure(task.verdict) : task.error));
}

/// Compares a file with what it must hold, or writes it.
void verify_goal_file(const std::string& path, const std::string& content, Goals goals, PuzzleOutcome& outcome) {
  if (content.empty()) return;
  if (goals == Goals::write) {
    write_file_atomically(path, content);
  } else if (read_file(path) != content) {
    outcome.problems.push_back(fmt::format("{} {}: ./shardlings verify --goals {}", fs::path(path).filename().string(),
                                           fs::exists(path) ? "is not the run of the solution any more" : "is missing",
                                           outcome.id));
  }
}

/// goal.json and goal.svg hold the solution's run. Of a question there is nothing to draw.
void verify_goal(const system::Project& project, const Task& task, Goals goals, PuzzleOutcome& outcome) {
  if (!outcome.solution_passed || task.puzzle->question) return;
  const Verdict goal = grading::verdict::goal_of(task.verdict);
  verify_goal_file(project.goal_file(outcome.id), grading::verdict::goal_to_text(goal, project.clusters()), goals,
                   outcome);
  verify_goal_file(project.goal_picture_file(outcome.id), learner::goal_picture(*task.puzzle, goal), goals, outcome);
}

/// The solution's run has the numbers that learners are to predict, and the lesson's answers those of its questions.
void verify_predictions(const system::Project& project, const Task& task, const Asker& ask, PuzzleOutcome& outcome) {
  if (!outcome.solution_passed || !ask) return;
  const auto add = [&](const std::vector<std::string>& problems) {
    outcome.problems.insert(outcome.problems.end(), problems.begin(), problems.end());
  };
  try {
    const std::string lesson = read_file(project.after_file(outcome.id)).value_or("");
    const Predictions before = ask(*task.puzzle, When::before), after = ask(*task.puzzle, When::after);
    add(problems_of(before, task.verdict));
    add(problems_of_after(after));
    add(numbers_missing(before, lesson));
    add(answers_missing(after, lesson));
  } catch (const std::exception& error) {
    outcome.problems.emplace_back(error.what());
  }
}

void verify_stub(const Task& task, PuzzleOutcome& outcome) {
  outcome.stub_refused = task.error.empty() && !task.verdict.passed && task.verdict.status == Status::not_implemented;
  if (outcome.stub_refused) return;
  outcome.problems.push_back("the stub must be refused as not_implemented, and is: " +
                             (task.error.empty() ? first_failure(task.verdict) : task.error));
}

/// Why a mutant is not caught; empty if it is. One may pass that misses a bonus.
std::string escape_of(const Task& task, const MutantOutcome& mutant) {
  if (!task.error.empty()) return task.error;
  if (is_perfect(task.verdict)) return "it passes";
  if (task.verdict.status == Status::not_judged) return "it could not be judged: " + task.verdict.reason;
  if (task.verdict.status == Status::did_not_build) return "it does not build:\n" + task.verdict.build_log;
  const std::string found = mutant.found.empty() ? kNoCause : mutant.found;
  return found == mutant.declared ? "" : fmt::format("declared {}, diagnosed {}", mutant.declared, found);
}

/// What is wrong with a variant, with the file and the line of its stanza.
void report(const Task& task, const std::string& problem, PuzzleOutcome& outcome) {
  const bool misfit = task.path.empty();  // then the problem names the line that does not fit
  outcome.problems.push_back(misfit ? problem : VariantError(task.variant, task.variant.line, problem).what());
}

void verify_mutant(const Task& task, PuzzleOutcome& outcome) {
  MutantOutcome mutant{task.variant.name, task.variant.diagnosis, {}, false};
  if (!task.verdict.diagnoses.empty()) mutant.found = task.verdict.diagnoses[0];
  const std::string escape = escape_of(task, mutant);
  mutant.caught = escape.empty();
  if (!mutant.caught) report(task, escape, outcome);
  const cases::Milestone* milestone = task.puzzle->milestone(task.variant.milestone);
  if (task.error.empty() && milestone != nullptr && !learner::passes_milestone(task.verdict, *milestone)) {
    report(task, fmt::format("does not pass the milestone {}, as its heading says", milestone->letter), outcome);
  }
  outcome.mutants.push_back(mutant);
}

void verify_right(const Task& task, PuzzleOutcome& outcome) {
  const bool passed = task.error.empty() && is_perfect(task.verdict) && task.verdict.points >= task.verdict.max_points;
  if (!passed) {
    const std::string why = task.error.empty() ? "does not pass: " + first_failure(task.verdict) : task.error;
    report(task, why, outcome);
  }
  outcome.right.push_back({task.variant.name, passed});
}

/// Calls `look` with every check that numbers of this run were compared for.
void each_comparison(const Verdict& verdict, const auto& look) {
  for (const auto& kase : verdict.cases) {
    for (const auto& check : kase.checks) {
      if (check.distance > 0) look(kase, check);
    }
  }
}

Margins margins_of(const Manifest& puzzle, const std::vector<Task>& tasks) {
  Margins margins;
  for (const Task& task : tasks) {
    if (task.puzzle != &puzzle || task.role == FileRole::stub) continue;
    each_comparison(task.verdict, [&](const auto& kase, const auto& check) {
      if (task.role == FileRole::solution) margins.solution = std::max(margins.solution, check.distance);
      const bool wrong = task.role == FileRole::mutant && check.passed == false && check.distance > 1;
      if (!wrong || check.distance >= margins.mutants.value_or(HUGE_VAL)) return;
      margins.mutants = check.distance;
      margins.nearest = fmt::format("{}, case {}", task.variant.name, kase.kase.name);
    });
  }
  return margins;
}

void verify_margins(PuzzleOutcome& outcome) {
  const Margins& margins = outcome.margins;
  if (margins.solution > Margins::kRight) {
    outcome.problems.push_back(fmt::format("the solution is off by {:.2g} of the tolerance, at most {} is sound",
                                           margins.solution, Margins::kRight));
  }
  if (margins.mutants && *margins.mutants < Margins::kWrong) {
    outcome.problems.push_back(
        fmt::format("{}: the wrong output is off by only {:.2g} times the tolerance, {} is sound", margins.nearest,
                    *margins.mutants, Margins::kWrong));
  }
}

/// Whether the check failed in some case; one that was blocked did not.
std::optional<bool> passes(const Verdict& verdict, const std::string& check) {
  const auto& all = verdict.checks;
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& summary) { return summary.spec.id == check; });
  return at == all.end() ? std::nullopt : at->passed;
}

/// A check that nothing fails, or the stub passes, looks at nothing; few mutants may all fail it for one reason.
void verify_check(const std::string& check, const std::vector<const Task*>& tasks, PuzzleOutcome& outcome) {
  CheckOutcome& found = outcome.checks.emplace_back(CheckOutcome{check, 0});
  for (const Task* task : tasks) {
    const std::optional<bool> passed = passes(task->verdict, check);
    if (task->role == FileRole::mutant && passed == false) ++found.failed_by;
    if (task->role == FileRole::stub && passed == true) {
      outcome.problems.push_back(fmt::format("the stub passes the check {}", check));
    }
  }
  if (found.failed_by >= kMutantsPerCheck) return;
  const std::string whom = found.failed_by == 0   ? "no mutant fails"
                           : found.failed_by == 1 ? "only 1 mutant fails"
                                                  : fmt::format("only {} mutants fail", found.failed_by);
  outcome.problems.push_back(fmt::format("{} the check {}; {} must", whom, check, kMutantsPerCheck));
}

/// Each mutant that a sentence of the contract names fails the check that is said to hold that sentence.
void verify_promise(const Promise& promise, const std::vector<const Task*>& tasks, PuzzleOutcome& outcome) {
  for (const std::string& name : promise.mutants) {
    const auto named = [&](const Task* task) { return task->role == FileRole::mutant && task->variant.name == name; };
    const auto at = std::find_if(tasks.begin(), tasks.end(), named);
    if (at == tasks.end() || passes((*at)->verdict, promise.check) == false) continue;
    outcome.problems.push_back(fmt::format("contract.toml: \"{}\": the mutant {} does not fail the check {}",
                                           promise.sentence, name, promise.check));
  }
}

std::vector<const Task*> tasks_for(const Manifest& puzzle, const std::vector<Task>& tasks) {
  std::vector<const Task*> own;
  for (const Task& task : tasks) {
    if (task.puzzle == &puzzle) own.push_back(&task);
  }
  return own;
}

void verify_checks(const Manifest& puzzle, const std::vector<const Task*>& tasks, PuzzleOutcome& outcome) {
  for (const auto& check : puzzle.checks) verify_check(check.id, tasks, outcome);
}

/// The contract fits the stub, and its mutants prove it.
void verify_contract(const system::Project& project, const Manifest& puzzle, const std::vector<const Task*>& tasks,
                     PuzzleOutcome& outcome) {
  const std::string stub = read_file(stub_to_verify(project, puzzle.id)).value_or("");
  const VariantFile mutants = load_variants(project, puzzle, VariantKind::mutant);
  const Contract contract = load_contract(project, puzzle, stub, mutants);
  outcome.problems.insert(outcome.problems.end(), contract.problems.begin(), contract.problems.end());
  outcome.promises = static_cast<int>(contract.promises.size());
  for (const Promise& promise : contract.promises) verify_promise(promise, tasks, outcome);
}

PuzzleOutcome outcome_of(const system::Project& project, const Manifest& puzzle, const std::vector<Task>& tasks,
                         const VerificationOptions& options) {
  PuzzleOutcome outcome;
  outcome.id = puzzle.id;
  outcome.problems = static_problems(project, puzzle);
  for (const Task& task : tasks) {
    if (task.puzzle != &puzzle) continue;
    outcome.judged = outcome.judged && task.verdict.status != Status::not_judged;
    if (task.role == FileRole::solution) {
      verify_solution(task, outcome);
      verify_goal(project, task, options.goals, outcome);
      verify_predictions(project, task, options.ask, outcome);
    }
    if (task.role == FileRole::stub) verify_stub(task, outcome);
    if (task.role == FileRole::mutant) verify_mutant(task, outcome);
    if (task.role == FileRole::right) verify_right(task, outcome);
  }
  const std::vector<const Task*> own = tasks_for(puzzle, tasks);
  verify_checks(puzzle, own, outcome);
  verify_contract(project, puzzle, own, outcome);
  outcome.margins = margins_of(puzzle, tasks);
  verify_margins(outcome);
  return outcome;
}

}  // namespace

int PuzzleOutcome::caught() const {
  return static_cast<int>(std::count_if(mutants.begin(), mutants.end(), [](const auto& m) { return m.caught; }));
}

int PuzzleOutcome::right_passed() const {
  return static_cast<int>(std::count_if(right.begin(), right.end(), [](const auto& r) { return r.passed; }));
}

std::vector<PuzzleOutcome> verify_puzzles(const system::Project& project, const std::vector<Manifest>& puzzles,
                                          const VerificationOptions& options, const Grader& grade,
                                          const Progressed& progressed) {
  std::vector<std::string> stubs;
  for (const Manifest& puzzle : puzzles) stubs.push_back(stub_to_verify(project, puzzle.id));
  std::vector<Task> tasks = tasks_of(project, puzzles, stubs);
  grade_all(tasks, options.jobs, grade, progressed);
  std::vector<PuzzleOutcome> outcomes;
  for (const Manifest& puzzle : puzzles) outcomes.push_back(outcome_of(project, puzzle, tasks, options));
  return outcomes;
}

}  // namespace shardlings::cli::author

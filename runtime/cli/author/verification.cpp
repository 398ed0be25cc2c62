#include "cli/author/verification.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "base/file.h"
#include "base/mutex.h"
#include "cli/author/mutants.h"
#include "cli/learner/goal_picture.h"
#include "grading/verdict/goal.h"
#include "grading/verdict/run_file.h"

namespace shardlings::cli::author {

namespace fs = std::filesystem;
using cases::Manifest;
using grading::verdict::Status;
using grading::verdict::Verdict;

namespace {

enum class FileRole { solution, stub, mutant };

/// One file to be graded, and what came of it.
struct Task {
  const Manifest* puzzle;
  FileRole role;
  std::string path;  ///< empty for a mutant that does not fit the solution
  Variant mutant;    ///< what a mutant's file was made from
  Verdict verdict;
  std::string error;  ///< why there is no verdict
};

/// The mutant, written out. One that does not fit the solution ends here: there is nothing to grade.
Task task_of(const system::Project& project, const Manifest& puzzle, const Variant& mutant) {
  Task task{&puzzle, FileRole::mutant, {}, mutant, {}, {}};
  try {
    task.path = write_mutant(project, puzzle.id, mutant);
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
    for (const Variant& mutant : load_mutants(project, puzzle).variants) {
      tasks.push_back(task_of(project, puzzle, mutant));
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
  std::atomic<std::size_t> next{0};
  Done done;
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      Task& task = tasks[i];
      try {
        if (task.error.empty()) task.verdict = grade(*task.puzzle, task.path);
      } catch (const std::exception& error) {
        task.error = error.what();
      }
      const MutexLock guard(done.lock);  // one report at a time
      progressed(++done.tasks, static_cast<int>(tasks.size()),
                 task.puzzle->id + "/" + fs::path(task.path).filename().string());
    }
  };
  std::vector<std::jthread> workers;
  for (int i = 1; i < jobs; ++i) workers.emplace_back(work);
  work();
}

/// "output: expected …, found …" of the first failed check, or the status.
std::string first_failure(const Verdict& verdict) {
  if (verdict.status == Status::not_judged) return "not judged: " + verdict.reason;
  for (const auto& kase : verdict.cases) {
    for (const auto& check : kase.checks) {
      if (check.passed != false) continue;
      return fmt::format("case {}, check {}: expected {}, found {}", kase.kase.name, check.id, check.expected,
                         check.found);
    }
  }
  const std::string status = name_of(verdict.status);
  return verdict.build_log.empty() ? status : status + ":\n" + verdict.build_log;
}

void verify_solution(const Task& task, PuzzleOutcome& outcome) {
  outcome.solution_passed = task.error.empty() && task.verdict.passed;
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

/// goal.json and goal.svg hold the solution's run.
void verify_goal(const system::Project& project, const Task& task, Goals goals, PuzzleOutcome& outcome) {
  if (!outcome.solution_passed) return;
  const Verdict goal = grading::verdict::goal_of(task.verdict);
  verify_goal_file(project.goal_file(outcome.id), grading::verdict::goal_to_text(goal, project.clusters()), goals,
                   outcome);
  verify_goal_file(project.goal_picture_file(outcome.id), learner::goal_picture(*task.puzzle, goal), goals, outcome);
}

void verify_stub(const Task& task, PuzzleOutcome& outcome) {
  outcome.stub_refused = task.error.empty() && !task.verdict.passed && task.verdict.status == Status::not_implemented;
  if (outcome.stub_refused) return;
  outcome.problems.push_back("the stub must be refused as not_implemented, and is: " +
                             (task.error.empty() ? first_failure(task.verdict) : task.error));
}

/// Why a mutant is not caught; empty if it is.
std::string escape_of(const Task& task, const MutantOutcome& mutant) {
  if (!task.error.empty()) return task.error;
  if (task.verdict.passed) return "it passes";
  if (task.verdict.status == Status::not_judged) return "it could not be judged: " + task.verdict.reason;
  if (task.verdict.status == Status::did_not_build) return "it does not build:\n" + task.verdict.build_log;
  if (mutant.found == mutant.declared) return {};
  return fmt::format("declared {}, diagnosed {}", mutant.declared, mutant.found.empty() ? "nothing" : mutant.found);
}

void verify_mutant(const Task& task, PuzzleOutcome& outcome) {
  MutantOutcome mutant{task.mutant.name, task.mutant.diagnosis, {}, false};
  if (!task.verdict.diagnoses.empty()) mutant.found = task.verdict.diagnoses[0];
  const std::string escape = escape_of(task, mutant);
  mutant.caught = escape.empty();
  if (task.path.empty()) {
    outcome.problems.push_back(escape);  // names the stanza and the line that does not fit
  } else if (!mutant.caught) {
    outcome.problems.emplace_back(VariantError(task.mutant, task.mutant.line, escape).what());
  }
  outcome.mutants.push_back(mutant);
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
      margins.nearest = fmt::format("{}, case {}", task.mutant.name, kase.kase.name);
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

/// Checks of the puzzle that no mutant failed: nobody knows whether they can fail at all.
void verify_checks(const Manifest& puzzle, const std::vector<Task>& tasks, PuzzleOutcome& outcome) {
  std::set<std::string> failed;
  for (const Task& task : tasks) {
    if (task.puzzle != &puzzle || task.role != FileRole::mutant) continue;
    for (const auto& check : task.verdict.checks) {
      if (check.passed == false) failed.insert(check.spec.id);
    }
  }
  for (const auto& check : puzzle.checks) {
    if (!failed.contains(check.id)) outcome.problems.push_back(fmt::format("no mutant fails the check {}", check.id));
  }
}

PuzzleOutcome outcome_of(const system::Project& project, const Manifest& puzzle, const std::vector<Task>& tasks,
                         Goals goals) {
  PuzzleOutcome outcome;
  outcome.id = puzzle.id;
  outcome.problems = static_problems(project, puzzle);
  for (const Task& task : tasks) {
    if (task.puzzle != &puzzle) continue;
    outcome.judged = outcome.judged && task.verdict.status != Status::not_judged;
    if (task.role == FileRole::solution) {
      verify_solution(task, outcome);
      verify_goal(project, task, goals, outcome);
    }
    if (task.role == FileRole::stub) verify_stub(task, outcome);
    if (task.role == FileRole::mutant) verify_mutant(task, outcome);
  }
  verify_checks(puzzle, tasks, outcome);
  outcome.margins = margins_of(puzzle, tasks);
  verify_margins(outcome);
  return outcome;
}

}  // namespace

int PuzzleOutcome::caught() const {
  return static_cast<int>(std::count_if(mutants.begin(), mutants.end(), [](const auto& m) { return m.caught; }));
}

std::vector<PuzzleOutcome> verify_puzzles(const system::Project& project, const std::vector<Manifest>& puzzles,
                                          const VerificationOptions& options, const Grader& grade,
                                          const Progressed& progressed) {
  std::vector<std::string> stubs;
  for (const Manifest& puzzle : puzzles) stubs.push_back(stub_to_verify(project, puzzle.id));
  std::vector<Task> tasks = tasks_of(project, puzzles, stubs);
  grade_all(tasks, options.jobs, grade, progressed);
  std::vector<PuzzleOutcome> outcomes;
  for (const Manifest& puzzle : puzzles) outcomes.push_back(outcome_of(project, puzzle, tasks, options.goals));
  return outcomes;
}

}  // namespace shardlings::cli::author

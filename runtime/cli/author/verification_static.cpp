#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>
#include <span>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/author/diagnosis_ids.h"
#include "cli/author/scaffold.h"
#include "cli/author/stub.h"
#include "cli/author/variants.h"
#include "cli/author/verification.h"
#include "cli/learner/goal_picture.h"
#include "cli/system/program.h"
#include "grading/judge/diagnosis.h"

namespace shardlings::cli::author {

namespace fs = std::filesystem;
using cases::Manifest;

namespace {

constexpr std::size_t kLongestStub = 80;

/// Sections that every lesson has, in this order; others may stand between them.
constexpr std::array kBefore = {"## What you are given", "## Targets",           "## Predict",
                                "## The goal",           "## What to implement", "## What is checked"};
/// Of a question nothing can be drawn, so it has no goal.
constexpr std::array kBeforeQuestion = {"## What you are given", "## Targets", "## Predict", "## What to implement",
                                        "## What is checked"};
/// Those of its second part, which give the answer away.
constexpr std::array kAfter = {"## What it costs", "## Common mistakes",       "## In production",
                               "## At scale",      "## Questions and answers", "## Further reading"};

/// An answer's length may differ so much from what puzzle.toml promises: a quarter of that, or these few lines.
constexpr int kFewLines = 2;

/// Whether git knows the file and has another content for it.
bool changed_since_commit(const system::Project& project, const std::string& id) {
  return system::capture({"git", "-C", project.root, "diff", "--quiet", "HEAD", "--", project.puzzle_file(id)})
             .status == 1;
}

void check_stub(const std::string& stub, const std::string& solution, int answer_lines,
                std::vector<std::string>& problems) {
  const std::string difference = difference_outside_hole(stub, solution);
  if (!difference.empty()) problems.push_back(difference);
  const auto parts = cut_at_hole(stub);
  // Programs that are to be mended are read one after another.
  const std::size_t given = parts && gives_hole(solution) ? lines_of(parts->hole).size() : 0;
  const std::size_t length = lines_of(stub).size() - given;
  const char* where = given > 0 ? " outside of its hole" : "";
  if (length > kLongestStub) {
    problems.push_back(fmt::format("the stub has {} lines{}; at most {} fit into a head", length, where, kLongestStub));
  }
  if (given > kLongestStub) {
    problems.push_back(fmt::format("the stub's hole has {} lines; at most {} fit into a head", given, kLongestStub));
  }
  const std::string size = fmt::format("(about {} line", answer_lines);
  if (stub.find(size) == std::string::npos) {
    problems.push_back(fmt::format("puzzle.toml says answer_lines = {}, but the stub's mark does not say \"{}{})\"",
                                   answer_lines, size, answer_lines == 1 ? "" : "s"));
  }
}

std::multiset<std::string> code_in_hole(const std::string& text) {
  const auto parts = cut_at_hole(text);
  std::multiset<std::string> lines;
  for (const std::string& line : lines_of(parts ? parts->hole : "")) {
    const std::string code = trimmed(line);
    if (!code.empty() && !code.starts_with("//") && code != "not_implemented();") lines.insert(code);
  }
  return lines;
}

/// Lines that a learner writes: neither comments nor what the stub's hole has already.
int lines_to_write(const std::string& solution) {
  const auto all = code_in_hole(solution), there = code_in_hole(stub_of_solution(solution).value_or(""));
  std::vector<std::string> written;
  std::set_difference(all.begin(), all.end(), there.begin(), there.end(), std::back_inserter(written));
  return static_cast<int>(written.size());
}

void check_answer(const std::string& solution, int answer_lines, std::vector<std::string>& problems) {
  const int lines = lines_to_write(solution);
  if (std::abs(lines - answer_lines) <= std::max(kFewLines, answer_lines / 4)) return;
  problems.push_back(
      fmt::format("puzzle.toml says answer_lines = {}, and the solution writes {} lines of code", answer_lines, lines));
}

/// Lines of code whose breaks would be lost, since text is filled like a paragraph.
bool code_without_fence(const cases::Hint& hint) {
  const std::string text = trimmed(hint.text);
  return hint.level == cases::HintLevel::near_code && text.find('\n') != std::string::npos &&
         text.find("```") == std::string::npos;
}

void check_hint(const cases::Hint& hint, const std::string& name, std::vector<std::string>& problems) {
  if (trimmed(hint.text).empty()) problems.push_back(fmt::format("{} is empty", name));
  if (code_without_fence(hint)) problems.push_back("the lines of the near-code hint are not between ``` marks");
}

void check_hints(const Manifest& puzzle, std::vector<std::string>& problems) {
  std::set<std::string> levels;
  for (const cases::Hint& hint : puzzle.hints) {
    check_hint(hint, fmt::format("a hint ({})", name_of(hint.level)), problems);
    levels.insert(name_of(hint.level));
  }
  for (const cases::Diagnosis& diagnosis : puzzle.diagnoses) {
    if (diagnosis.hint) check_hint(*diagnosis.hint, "the hint on " + diagnosis.id, problems);
    if (!diagnosis.hint) problems.push_back("there is no hint on " + diagnosis.id);
    if (grading::judge::diagnosis_text(puzzle, diagnosis.id).empty())
      problems.push_back("there is no sentence of " + diagnosis.id);
  }
  for (const std::string& level : cases::kHintLevelWords.all()) {
    if (!levels.contains(level)) problems.push_back(fmt::format("the ladder has no hint of level {}", level));
  }
}

/// `part` names the file: "the lesson", "after.md".
void check_sections(const std::string& part, const std::string& text, std::span<const char* const> sections,
                    std::vector<std::string>& problems) {
  const std::vector<std::string> lines = lines_of(text);
  auto from = lines.begin();
  for (const char* section : sections) {
    const auto at = std::find(from, lines.end(), section);
    if (at != lines.end()) {
      from = at + 1;
    } else {
      const bool elsewhere = std::find(lines.begin(), lines.end(), section) != lines.end();
      problems.push_back(
          fmt::format("{} has {}\"{}\"", part, elsewhere ? "in another order: " : "no section ", section));
    }
  }
}

/// The goal's picture shows what is to be predicted, so it stands behind the questions, under a heading of its own.
void check_place_of_goal(const std::string& lesson, std::vector<std::string>& problems) {
  std::string section;
  for (const std::string& line : lines_of(lesson)) {
    if (line.starts_with("## ")) section = line;
    if (line.find(learner::kGoalAddress) == std::string::npos || section == "## The goal") continue;
    problems.push_back(
        fmt::format("the lesson shows its goal under \"{}\", and not under \"## The goal\": it answers "
                    "what \"## Predict\" asks",
                    section));
  }
}

void check_lesson(const std::string& lesson, bool question, std::vector<std::string>& problems) {
  const bool shows_goal = lesson.find(learner::kGoalAddress) != std::string::npos;
  if (trimmed(lesson).empty()) {
    problems.push_back("there is no lesson, README.md");
  } else if (!question && !shows_goal) {
    problems.push_back("the lesson shows no goal: ![what is to be seen](goal.svg) on a line of its own");
  } else if (question && shows_goal) {
    problems.push_back("the lesson shows a goal, and puzzle.toml says question = true: there is nothing to draw");
  }
  if (question) {
    check_sections("the lesson", lesson, kBeforeQuestion, problems);
  } else {
    check_sections("the lesson", lesson, kBefore, problems);
  }
  check_place_of_goal(lesson, problems);
  const std::vector<std::string> lines = lines_of(lesson);
  for (const char* section : kAfter) {
    if (std::find(lines.begin(), lines.end(), section) == lines.end()) continue;
    problems.push_back(fmt::format("the lesson has \"{}\", which is for those who have passed: after.md", section));
  }
}

/// The heading says which lesson goes on.
void check_after(const std::string& lesson, const std::string& after, std::vector<std::string>& problems) {
  if (trimmed(after).empty()) {
    problems.push_back("there is no second part of the lesson, after.md");
    return;
  }
  const std::string heading = lesson.substr(0, lesson.find('\n')) + ": after the pass";
  if (after.substr(0, after.find('\n')) != heading) {
    problems.push_back(fmt::format("after.md does not begin with \"{}\"", heading));
  }
  check_sections("after.md", after, kAfter, problems);
}

/// Of each step a mutant shows that it can be passed by somebody who has no more than that.
void check_milestones(const Manifest& puzzle, const VariantFile& mutants, std::vector<std::string>& problems) {
  for (const cases::Milestone& milestone : puzzle.milestones) {
    const bool shown = std::any_of(mutants.variants.begin(), mutants.variants.end(),
                                   [&](const Variant& mutant) { return mutant.milestone == milestone.letter; });
    if (shown || milestone.cases.empty()) continue;
    problems.push_back(
        fmt::format("no mutant passes the milestone {0}: == name -> diagnosis (passes {0})", milestone.letter));
  }
}

}  // namespace

std::string stub_to_verify(const system::Project& project, const std::string& id) {
  std::string path = project.puzzle_file(id);
  const std::string text = read_file(path).value_or("");
  if (stub_of_solution(text) == text) return path;  // nobody has filled it
  if (!changed_since_commit(project, id)) return path;
  const auto stub = stub_of_solution(read_file(project.solution_file(id)).value_or(""));
  if (!stub) return path;
  const std::string folder = project.build + "/verify/" + id;
  fs::create_directories(folder);
  write_file_atomically(folder + "/puzzle.cpp", *stub);
  return folder + "/puzzle.cpp";
}

std::vector<std::string> static_problems(const system::Project& project, const Manifest& puzzle) {
  std::vector<std::string> problems;
  const auto stub = read_file(stub_to_verify(project, puzzle.id));
  const auto solution = read_file(project.solution_file(puzzle.id));
  if (!stub) problems.push_back("there is no puzzle.cpp");
  if (!solution) problems.push_back("there is no solution.cpp");
  if (stub && solution) check_stub(*stub, *solution, puzzle.answer_lines, problems);
  if (solution) check_answer(*solution, puzzle.answer_lines, problems);
  const std::string lesson = read_file(project.lesson_file(puzzle.id)).value_or("");
  check_lesson(lesson, puzzle.question, problems);
  check_after(lesson, read_file(project.after_file(puzzle.id)).value_or(""), problems);
  if (puzzle.cases.empty()) problems.push_back("there are no cases");
  check_hints(puzzle, problems);
  check_diagnoses(read_file(project.puzzle_folder(puzzle.id) + "/grader.cpp").value_or(""), puzzle, problems);
  const VariantFile mutants = load_variants(project, puzzle, VariantKind::mutant);
  const VariantFile right = load_variants(project, puzzle, VariantKind::right);
  for (const VariantFile* file : {&mutants, &right}) {
    problems.insert(problems.end(), file->problems.begin(), file->problems.end());
  }
  if (mutants.variants.size() < kMutantsPerPuzzle) {
    problems.push_back(
        fmt::format("there are {} mutants; at least {} must be caught", mutants.variants.size(), kMutantsPerPuzzle));
  }
  check_milestones(puzzle, mutants, problems);
  const auto blanks = blanks_left(project, puzzle.id);
  if (!blanks.empty()) {
    problems.push_back(fmt::format("{} blanks ({}) are left, the first in {}", blanks.size(), kBlank, blanks[0]));
  }
  return problems;
}

}  // namespace shardlings::cli::author

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/author/mutants.h"
#include "cli/author/scaffold.h"
#include "cli/author/stub.h"
#include "cli/author/verification.h"
#include "cli/learner/goal_picture.h"
#include "cli/system/program.h"
#include "grading/judge/diagnosis.h"

namespace shardlings::cli::author {

namespace fs = std::filesystem;
using cases::Manifest;

namespace {

constexpr std::size_t kLongestStub = 80;

/// Whether git knows the file and has another content for it.
bool changed_since_commit(const system::Project& project, const std::string& id) {
  return system::capture({"git", "-C", project.root, "diff", "--quiet", "HEAD", "--", project.puzzle_file(id)})
             .status == 1;
}

void check_stub(const std::string& stub, const std::string& solution, int answer_lines,
                std::vector<std::string>& problems) {
  const std::string difference = difference_outside_hole(stub, solution);
  if (!difference.empty()) problems.push_back(difference);
  const std::size_t length = lines_of(stub).size();
  if (length > kLongestStub) {
    problems.push_back(fmt::format("the stub has {} lines; at most {} fit into a head", length, kLongestStub));
  }
  const std::string size = fmt::format("(about {} line", answer_lines);
  if (stub.find(size) == std::string::npos) {
    problems.push_back(fmt::format("puzzle.toml says answer_lines = {}, but the stub's mark does not say \"{}{})\"",
                                   answer_lines, size, answer_lines == 1 ? "" : "s"));
  }
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
  }
  for (const std::string& level : cases::kHintLevelWords.all()) {
    if (!levels.contains(level)) problems.push_back(fmt::format("the ladder has no hint of level {}", level));
  }
}

void check_lesson(const std::string& lesson, std::vector<std::string>& problems) {
  if (trimmed(lesson).empty()) {
    problems.push_back("there is no lesson, README.md");
  } else if (lesson.find(learner::kGoalAddress) == std::string::npos) {
    problems.push_back("the lesson shows no goal: ![what is to be seen](goal.svg) on a line of its own");
  }
}

/// A misspelt id would be shown without a sentence, and only a mutant that meets it could tell. Of those that a grader
/// computes nothing is known here.
void check_diagnoses(const std::string& grader, const Manifest& puzzle, std::vector<std::string>& problems) {
  static const std::regex diagnosed(R"re(\bdiagnose\("([^"]*)"\))re");
  for (std::sregex_iterator it(grader.begin(), grader.end(), diagnosed), end; it != end; ++it) {
    const std::string id = (*it)[1].str();
    if (puzzle.diagnosis(id) != nullptr || !grading::judge::diagnosis_text(puzzle, id).empty()) continue;
    problems.push_back(fmt::format("grader.cpp names the diagnosis {}, which puzzle.toml does not have", id));
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
  check_lesson(read_file(project.puzzle_folder(puzzle.id) + "/README.md").value_or(""), problems);
  if (puzzle.cases.empty()) problems.push_back("there are no cases");
  check_hints(puzzle, problems);
  check_diagnoses(read_file(project.puzzle_folder(puzzle.id) + "/grader.cpp").value_or(""), puzzle, problems);
  for (std::string& problem : load_mutants(project, puzzle).problems) problems.push_back(std::move(problem));
  const auto blanks = blanks_left(project, puzzle.id);
  if (!blanks.empty()) {
    problems.push_back(fmt::format("{} blanks ({}) are left, the first in {}", blanks.size(), kBlank, blanks[0]));
  }
  return problems;
}

}  // namespace shardlings::cli::author

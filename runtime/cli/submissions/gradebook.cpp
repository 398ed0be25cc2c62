#include "cli/submissions/gradebook.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace shardlings::cli::submissions {

using grading::verdict::Status;
using grading::verdict::Verdict;
using nlohmann::ordered_json;

namespace {

Outcome outcome_of(const Verdict& verdict) {
  switch (verdict.status) {
    case Status::not_judged:
    case Status::no_check_ran: return Outcome::not_judged;
    case Status::not_implemented: return Outcome::not_implemented;
    case Status::did_not_build: return Outcome::did_not_build;
    case Status::graded: break;
  }
  return verdict.passed ? Outcome::passed : Outcome::failed;
}

/// A cell of CSV (RFC 4180, section 2). A student chooses the name: no spreadsheet may compute it.
std::string cell(std::string text) {
  if (!text.empty() && std::string("=+-@\t\r\n").find(text.front()) != std::string::npos) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

/// "12" or "12.25".
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string late_of(const Row& row) {
  std::string late;
  for (const Mark& mark : row.marks) {
    if (mark.late) late += (late.empty() ? "" : " ") + mark.puzzle;
  }
  return late;
}

ordered_json json_of(const Mark& mark) {
  ordered_json all;
  all["puzzle"] = mark.puzzle;
  all["outcome"] = kOutcomeWords.of(mark.outcome);
  all["points"] = mark.outcome == Outcome::not_judged ? ordered_json() : ordered_json(mark.points);
  all["max_points"] = mark.max_points;
  all["bonus"] = mark.bonus;
  all["file"] = mark.file;
  all["sha256"] = mark.content;
  all["submitted"] = mark.submitted == 0 ? ordered_json() : ordered_json(mark.submitted);
  all["late"] = mark.late;
  all["failed"] = mark.failed;
  all["diagnoses"] = mark.diagnoses;
  all["reason"] = mark.reason;
  return all;
}

}  // namespace

Mark mark_of(const Verdict& verdict) {
  Mark mark;
  mark.puzzle = verdict.puzzle;
  mark.outcome = outcome_of(verdict);
  mark.points = mark.outcome == Outcome::not_judged ? 0 : verdict.points;
  mark.max_points = verdict.max_points;
  for (const grading::verdict::CheckSummary& check : verdict.checks) {
    if (check.spec.bonus && mark.points > 0) mark.bonus += check.earned;
    if (check.passed == false) mark.failed.push_back(check.spec.id);
  }
  mark.diagnoses = verdict.diagnoses;
  mark.reason = verdict.reason;
  return mark;
}

int count_of(const Gradebook& book, Outcome outcome) {
  const auto is_it = [outcome](const Mark& mark) { return mark.outcome == outcome; };
  int count = 0;
  for (const Row& row : book.rows) {
    count += static_cast<int>(std::count_if(row.marks.begin(), row.marks.end(), is_it));
  }
  return count;
}

std::vector<Alike> alike_in(const Gradebook& book) {
  std::vector<Alike> all;
  for (std::size_t i = 0; i < book.puzzles.size(); ++i) {
    std::map<std::string, Alike> by_content;
    std::set<std::string> groups;
    for (const Row& row : book.rows) {
      const Mark& mark = row.marks[i];
      const bool is_work = !mark.content.empty() && mark.outcome != Outcome::not_implemented;
      if (!is_work || (!row.group.empty() && !groups.insert(row.group).second)) continue;
      Alike& one = by_content[mark.content];
      one.puzzle = book.puzzles[i];
      one.students.push_back(row.student);
    }
    for (auto& [content, one] : by_content) {
      if (one.students.size() > 1) all.push_back(std::move(one));
    }
  }
  return all;
}

std::optional<double> total_of(const Gradebook& book, const Row& row) {
  double total = 0;
  for (std::size_t i = 0; i < row.marks.size(); ++i) {
    const Mark& mark = row.marks[i];
    if (mark.outcome == Outcome::not_judged) return std::nullopt;
    total += book.weights.empty() ? mark.points : book.weights[i] * mark.points / std::max(mark.max_points, 1);
  }
  return total;
}

double most_of(const Gradebook& book, const Row& row) {
  double most = 0;
  for (std::size_t i = 0; i < row.marks.size(); ++i) {
    most += book.weights.empty() ? row.marks[i].max_points : book.weights[i];
  }
  return most;
}

std::string to_csv(const Gradebook& book) {
  std::string text = "student,name,total,max,late";
  for (const std::string& puzzle : book.puzzles) text += fmt::format(",{0},{0} max,{0} outcome", puzzle);
  text += "\n";
  for (const Row& row : book.rows) {
    const std::optional<double> total = total_of(book, row);
    text += fmt::format("{},{},{},{},{}", cell(row.student), cell(row.name), total ? number(*total) : "",
                        number(most_of(book, row)), cell(late_of(row)));
    for (const Mark& mark : row.marks) {
      const bool judged = mark.outcome != Outcome::not_judged;
      text += fmt::format(",{},{},{}", judged ? std::to_string(mark.points) : "", mark.max_points,
                          kOutcomeWords.of(mark.outcome));
    }
    text += "\n";
  }
  return text;
}

std::string to_json(const Gradebook& book) {
  ordered_json all;
  all["puzzles"] = book.puzzles;
  all["weights"] = book.weights;
  all["due"] = book.due.empty() ? ordered_json() : ordered_json(book.due);
  all["students"] = ordered_json::array();
  for (const Row& row : book.rows) {
    ordered_json student;
    student["student"] = row.student;
    student["name"] = row.name;
    student["group"] = row.group;
    const std::optional<double> total = total_of(book, row);
    student["total"] = total ? ordered_json(*total) : ordered_json();
    student["max"] = most_of(book, row);
    student["marks"] = ordered_json::array();
    for (const Mark& mark : row.marks) student["marks"].push_back(json_of(mark));
    all["students"].push_back(std::move(student));
  }
  all["alike"] = ordered_json::array();
  for (const Alike& one : alike_in(book)) {
    all["alike"].push_back({{"puzzle", one.puzzle}, {"students", one.students}});
  }
  if (book.changes) {
    all["changes"] = ordered_json::array();
    for (const Change& one : *book.changes) {
      all["changes"].push_back({{"student", one.student},
                                {"puzzle", one.puzzle},
                                {"before", one.before},
                                {"now", one.now},
                                {"why", one.why}});
    }
  }
  return all.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace shardlings::cli::submissions

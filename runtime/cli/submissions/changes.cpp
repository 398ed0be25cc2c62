#include "cli/submissions/changes.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace shardlings::cli::submissions {

using nlohmann::json;

namespace {

using Marks = std::map<std::pair<std::string, std::string>, Mark>;

Marks marks_of(const Gradebook& book) {
  Marks marks;
  for (const Row& row : book.rows) {
    for (const Mark& mark : row.marks) marks[{row.student, mark.puzzle}] = mark;
  }
  return marks;
}

/// "failed, 60 of 100".
std::string in_words(const Mark& mark) {
  std::string outcome = kOutcomeWords.of(mark.outcome);
  std::replace(outcome.begin(), outcome.end(), '_', ' ');
  if (mark.outcome == Outcome::not_judged) return outcome;
  return fmt::format("{}, {} of {}{}", outcome, mark.points, mark.max_points, mark.late ? ", late" : "");
}

/// Those of the first list that the second one lacks.
std::vector<std::string> without(const std::vector<std::string>& all, const std::vector<std::string>& others) {
  std::vector<std::string> left;
  for (const std::string& one : all) {
    if (std::find(others.begin(), others.end(), one) == others.end()) left.push_back(one);
  }
  return left;
}

bool is_same(const Mark& a, const Mark& b) {
  return a.outcome == b.outcome && a.points == b.points && a.max_points == b.max_points && a.late == b.late &&
         a.failed == b.failed && a.diagnoses == b.diagnoses;
}

std::string why(const Mark& old, const Mark& now) {
  std::vector<std::string> reasons;
  if (now.outcome == Outcome::not_judged) return "it could not be judged now: " + now.reason;
  if (old.outcome == Outcome::not_judged) reasons.push_back("it could not be judged before: " + old.reason);
  const bool knew_the_file = old.outcome != Outcome::not_judged || !old.content.empty();
  if (!knew_the_file) {
    // There were several, and none of them counted.
  } else if (old.content.empty() != now.content.empty()) {
    reasons.push_back(now.content.empty() ? "its file is gone" : "a file was handed in");
  } else if (!now.content.empty()) {
    reasons.push_back(old.content == now.content ? "the same file" : "another file");
  }
  if (old.max_points != now.max_points) reasons.push_back("the puzzle has other points");
  if (old.late != now.late) reasons.push_back(now.late ? "it is late now" : "it is not late any more");
  const std::vector<std::string> fails = without(now.failed, old.failed);
  if (!fails.empty()) reasons.push_back(fmt::format("fails now: {}", fmt::join(fails, ", ")));
  // Checks of what does not build are not judged: that they are no failures any more says nothing.
  const std::vector<std::string> holds = without(old.failed, now.failed);
  const bool judged = now.outcome == Outcome::passed || now.outcome == Outcome::failed;
  if (!holds.empty() && judged) reasons.push_back(fmt::format("does not fail any more: {}", fmt::join(holds, ", ")));
  const std::vector<std::string> named = without(now.diagnoses, old.diagnoses);
  if (!named.empty()) reasons.push_back(fmt::format("diagnosed now: {}", fmt::join(named, ", ")));
  return fmt::format("{}", fmt::join(reasons, "; "));
}

Mark mark_from(const json& data) {
  Mark mark;
  mark.puzzle = data.at("puzzle");
  const auto outcome = kOutcomeWords.find(data.at("outcome").get<std::string>());
  if (!outcome) throw std::runtime_error("no outcome is called " + data.at("outcome").dump());
  mark.outcome = *outcome;
  mark.points = data.at("points").is_null() ? 0 : data.at("points").get<int>();
  mark.max_points = data.at("max_points");
  mark.bonus = data.value("bonus", 0);
  mark.file = data.at("file");
  mark.content = data.at("sha256");
  mark.late = data.at("late");
  mark.failed = data.at("failed").get<std::vector<std::string>>();
  mark.diagnoses = data.at("diagnoses").get<std::vector<std::string>>();
  mark.reason = data.at("reason");
  return mark;
}

}  // namespace

std::vector<Change> changes_between(const Gradebook& old, const Gradebook& now) {
  const Marks before = marks_of(old);
  const Marks after = marks_of(now);
  std::vector<Change> changes;
  for (const auto& [key, mark] : after) {
    const auto past = before.find(key);
    if (past == before.end()) {
      changes.push_back({key.first, key.second, "", in_words(mark), "it was not in the table before"});
    } else if (!is_same(past->second, mark)) {
      changes.push_back({key.first, key.second, in_words(past->second), in_words(mark), why(past->second, mark)});
    }
  }
  for (const auto& [key, mark] : before) {
    if (after.contains(key)) continue;
    changes.push_back({key.first, key.second, in_words(mark), "", "it is not in the table any more"});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::tie(a.student, a.puzzle) < std::tie(b.student, b.puzzle);
  });
  return changes;
}

Gradebook gradebook_from_json(const std::string& text) {
  try {
    const json data = json::parse(text);
    Gradebook book;
    book.puzzles = data.at("puzzles").get<std::vector<std::string>>();
    for (const json& student : data.at("students")) {
      Row row{student.at("student"), student.at("name"), {}};
      for (const json& mark : student.at("marks")) row.marks.push_back(mark_from(mark));
      book.rows.push_back(std::move(row));
    }
    return book;
  } catch (const json::exception& error) {
    throw std::runtime_error(error.what());
  }
}

}  // namespace shardlings::cli::submissions

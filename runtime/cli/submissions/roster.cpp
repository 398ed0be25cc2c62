#include "cli/submissions/roster.h"

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/error.h"

namespace shardlings::cli::submissions {

namespace {

/// The first two cells of a line (RFC 4180, section 2, with other separators, too).
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == ',' || c == ';' || c == '\t')) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  for (std::string& cell : cells) cell = trimmed(cell);
  cells.resize(2);
  return cells;
}

bool is_heading(const std::string& cell) {
  static const std::regex kHeading(
      R"((student|user|sis)?[ _-]?(id|sid|student|number|email|e-mail|username|login)( id)?)", std::regex::icase);
  return std::regex_match(cell, kHeading);
}

}  // namespace

std::vector<Enrolled> roster_from(const std::string& text, const std::string& file) {
  std::vector<Enrolled> all;
  std::set<std::string> ids;
  int number = 0;
  for (std::string line : lines_of(text)) {
    if (++number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    if (trimmed(line).empty()) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (number == 1 && is_heading(cells[0])) continue;
    const char* fault = cells[0].empty()               ? "there is no id in the first column"
                        : !ids.insert(cells[0]).second ? "this id was there already"
                                                       : nullptr;
    if (fault != nullptr) throw UsageError(fmt::format("--roster {}:{}: {}.", file, number, fault));
    all.push_back({cells[0], cells[1]});
  }
  if (all.empty()) throw UsageError(fmt::format("--roster {}: it names nobody.", file));
  return all;
}

std::vector<std::string> enrol(Submissions& submissions, const std::vector<Enrolled>& roster) {
  std::map<std::string, std::string> missing;
  for (const Enrolled& one : roster) missing[one.id] = one.name;
  std::vector<std::string> strangers;
  std::set<std::string> there;
  for (Student& student : submissions.students) {
    const auto known = missing.find(student.id);
    if (known == missing.end()) {
      strangers.push_back(student.id);
    } else if (student.name.empty()) {
      student.name = known->second;
    }
    there.insert(student.id);
  }
  for (const auto& [id, name] : missing) {
    if (there.contains(id)) continue;
    Student& student = submissions.students.emplace_back();
    student.id = id;
    student.name = name;
  }
  std::stable_sort(submissions.students.begin(), submissions.students.end(),
                   [](const Student& a, const Student& b) { return a.id < b.id; });
  return strangers;
}

}  // namespace shardlings::cli::submissions

#include "cli/author/stub.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace shardlings::cli::author {

namespace {

constexpr const char* kOpening = "// >>> your code";
constexpr const char* kClosing = "// <<<";
constexpr const char* kPlaceholder = "  not_implemented();\n";
constexpr const char* kGiven = "// In the stub's hole:";

bool is_comment_or_blank(const std::string& line) {
  return line.empty() || line.starts_with("//");
}

std::string joined(const std::vector<std::string>& lines, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) text += lines[i] + "\n";
  return text;
}

/// The text, from the closing mark on, without the comment that ends it.
std::string without_last_comment(const std::string& text) {
  const auto lines = lines_of(text);
  std::size_t end = lines.size();
  while (end > 1 && is_comment_or_blank(lines[end - 1])) --end;
  return joined(lines, 0, end);
}

/// The first line in which two texts differ, from line `first` on.
std::string difference(const std::string& stub, const std::string& solution, std::size_t first, const char* part) {
  const auto a = lines_of(stub), b = lines_of(solution);
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string left = i < a.size() ? a[i] : "(nothing)", right = i < b.size() ? b[i] : "(nothing)";
    if (left != right) {
      return fmt::format("line {} {} the hole differs: the stub has \"{}\", the solution \"{}\"", first + i, part, left,
                         right);
    }
  }
  return {};
}

/// A line at the left margin that is code: the hole then holds whole functions.
bool is_at_margin(const std::string& line) {
  return !is_comment_or_blank(line) && line.front() != ' ';
}

/// Whole functions with not_implemented() as their bodies.
std::string without_bodies(const std::vector<std::string>& lines) {
  std::string text;
  bool inside = false;
  for (const std::string& line : lines) {
    if (line == "}") inside = false;
    if (inside) continue;
    text += line + "\n";
    inside = line.ends_with("{");
    if (inside) text += kPlaceholder;
  }
  return text;
}

/// The hole that a solution gives its stub in a comment below its own; nothing if it gives none.
std::optional<std::string> given_hole(const std::string& after) {
  const auto lines = lines_of(after);
  auto line = std::find(lines.begin(), lines.end(), kGiven);
  if (line == lines.end()) return std::nullopt;
  std::string hole;
  for (++line; line != lines.end() && line->starts_with("//"); ++line) {
    hole += line->substr(line->starts_with("// ") ? 3 : 2) + "\n";
  }
  return hole;
}

/// What stands in the stub's hole where the solution has this.
std::string emptied(const std::string& hole) {
  const auto lines = lines_of(hole);
  return std::any_of(lines.begin(), lines.end(), is_at_margin) ? without_bodies(lines) : kPlaceholder;
}

}  // namespace

std::optional<Holed> cut_at_hole(const std::string& text) {
  const auto lines = lines_of(text);
  std::vector<std::size_t> opening, closing;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find(kOpening) != std::string::npos) opening.push_back(i);
    if (lines[i].find(kClosing) != std::string::npos) closing.push_back(i);
  }
  if (opening.size() != 1 || closing.size() != 1 || closing[0] < opening[0]) return std::nullopt;
  return Holed{joined(lines, 0, opening[0] + 1), joined(lines, opening[0] + 1, closing[0]),
               joined(lines, closing[0], lines.size())};
}

std::optional<std::string> stub_of_solution(const std::string& solution) {
  const auto parts = cut_at_hole(solution);
  if (!parts) return std::nullopt;
  const std::string hole = given_hole(parts->after).value_or(emptied(parts->hole));
  return parts->before + hole + without_last_comment(parts->after);
}

bool gives_hole(const std::string& solution) {
  const auto parts = cut_at_hole(solution);
  return parts && given_hole(parts->after);
}

std::string difference_outside_hole(const std::string& stub, const std::string& solution) {
  const auto a = cut_at_hole(stub), b = cut_at_hole(solution);
  const auto marks = [](const char* which) {
    return fmt::format("the {} needs one hole: a line \"{} (about N lines)\" and, below, \"{}\"", which, kOpening,
                       kClosing);
  };
  if (!a) return marks("stub");
  if (!b) return marks("solution");
  std::string above = difference(a->before, b->before, 1, "above");
  if (!above.empty()) return above;
  const std::size_t first = lines_of(a->before + a->hole).size() + 1;
  return difference(without_last_comment(a->after), without_last_comment(b->after), first, "below");
}

}  // namespace shardlings::cli::author

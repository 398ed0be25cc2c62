#include "cli/author/variant.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/suggest.h"
#include "base/text.h"
#include "cli/author/stub.h"

namespace shardlings::cli::author {

namespace {

using Lines = std::vector<std::string>;

[[noreturn]] void refuse(const Variant& variant, int line, const std::string& what) {
  throw VariantError(variant, line, what);
}

/// How many lines of the edit stand in the solution from its line `at` (counted from 0) on.
std::size_t fitting(const Edit& edit, const Lines& solution, std::size_t at) {
  std::size_t count = 0;
  while (count < edit.before.size() && at + count < solution.size() &&
         solution[at + count] == edit.before[count].text) {
    ++count;
  }
  return count;
}

/// All places where the whole edit fits.
std::vector<std::size_t> places_of(const Edit& edit, const Lines& solution) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < solution.size(); ++at) {
    if (fitting(edit, solution, at) == edit.before.size()) places.push_back(at);
  }
  return places;
}

/// Of a line that the solution does not have: a line that may have been meant.
std::string nearest(const std::string& text, const Lines& solution) {
  Lines candidates;
  for (std::size_t i = 0; i < solution.size(); ++i) {
    if (trimmed(solution[i]) == trimmed(text)) return fmt::format("; line {} is indented otherwise", i + 1);
    candidates.push_back(trimmed(solution[i]));
  }
  const Lines near = near_names(trimmed(text), candidates);
  if (near.empty()) return {};
  const auto at = std::find(candidates.begin(), candidates.end(), near[0]) - candidates.begin();
  return fmt::format("; line {} is \"{}\"", at + 1, near[0]);
}

/// Says which line of the edit is the first that does not fit, at the place where most of them do.
[[noreturn]] void refuse_unknown(const Variant& variant, const Edit& edit, const Lines& solution) {
  std::size_t best = 0, place = 0;
  for (std::size_t at = 0; at < solution.size(); ++at) {
    if (fitting(edit, solution, at) <= best) continue;
    best = fitting(edit, solution, at);
    place = at;
  }
  const Edit::Line& line = edit.before[best];
  if (best == 0) {
    refuse(variant, line.number,
           fmt::format("the solution has no line \"{}\"{}", trimmed(line.text), nearest(line.text, solution)));
  }
  const std::size_t below = place + best;
  refuse(variant, line.number,
         fmt::format("below line {} of the solution stands {}, not \"{}\"", below,
                     below < solution.size() ? fmt::format("\"{}\"", trimmed(solution[below])) : "nothing",
                     trimmed(line.text)));
}

/// Where the edit fits: once in the whole solution, and not above line `from`, where the edit before it has ended.
std::size_t place_of(const Variant& variant, const Edit& edit, const Lines& solution, std::size_t from) {
  const std::vector<std::size_t> places = places_of(edit, solution);
  const int line = edit.before[0].number;
  if (places.empty()) refuse_unknown(variant, edit, solution);
  if (places.size() > 1) {
    refuse(variant, line,
           fmt::format("lines {} and {} of the solution fit; a line more, above or below, says which is meant",
                       places[0] + 1, places[1] + 1));
  }
  if (places[0] < from) {
    refuse(variant, line,
           fmt::format("line {} of the solution stands above the edit before this one; edits go from top to bottom",
                       places[0] + 1));
  }
  return places[0];
}

void append(std::string& text, const std::string& line) {
  text += line + "\n";
}

std::string with_edits(const Variant& variant, const std::string& solution) {
  const Lines lines = lines_of(solution);
  std::string text;
  std::size_t done = 0;
  for (const Edit& edit : variant.edits) {
    const std::size_t place = place_of(variant, edit, lines, done);
    for (; done < place; ++done) append(text, lines[done]);
    for (const Edit::Line& line : edit.after) append(text, line.text);
    done += edit.before.size();
  }
  for (; done < lines.size(); ++done) append(text, lines[done]);
  return text;
}

std::string with_hole(const Variant& variant, const std::string& solution) {
  const auto parts = cut_at_hole(solution);
  if (!parts) refuse(variant, variant.line, "the solution has no hole");
  std::string hole;
  for (const Edit::Line& line : variant.edits[0].after) append(hole, line.text);
  return parts->before + hole + parts->after;
}

}  // namespace

VariantError::VariantError(const std::string& file, int line, const std::string& what)
    : std::runtime_error(fmt::format("{}:{}: {}", file, line, what)) {}

VariantError::VariantError(const Variant& variant, int line, const std::string& what)
    : VariantError(variant.file, line, variant.name.empty() ? what : variant.name + ": " + what) {}

std::string applied(const Variant& variant, const std::string& solution) {
  const std::string text = variant.whole_hole ? with_hole(variant, solution) : with_edits(variant, solution);
  if (text == solution) refuse(variant, variant.line, "changes nothing");
  return text;
}

}  // namespace shardlings::cli::author

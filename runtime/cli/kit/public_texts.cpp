#include "cli/kit/public_texts.h"

#include <algorithm>
#include <regex>
#include <stdexcept>

#include <fmt/format.h>

#include "base/text.h"
#include "grading/verdict/run_file.h"

namespace shardlings::cli::kit {

using cases::Manifest;

namespace {

std::size_t times(const std::string& line, const char* what) {
  std::size_t count = 0;
  for (auto at = line.find(what); at != std::string::npos; at = line.find(what, at + 1)) ++count;
  return count;
}

/// The lines of a TOML file, each with whether it begins inside of a text of several lines.
struct Line {
  std::string text;
  bool inside_text = false;
};

std::vector<Line> toml_lines(const std::string& text) {
  std::vector<Line> lines;
  bool inside = false;
  for (const std::string& line : lines_of(text)) {
    lines.push_back({line, inside});
    const std::size_t marks = times(line, R"(""")");
    if (marks % 2 == 1) inside = !inside;
  }
  return lines;
}

/// A section of the file: its heading "[[cases]]", and the lines up to the next one. "[cases.model]" belongs to the
/// case before it.
struct Section {
  std::string heading;
  std::vector<Line> lines;
};

std::vector<Section> sections_of(const std::string& text) {
  std::vector<Section> sections = {{"", {}}};
  for (const Line& line : toml_lines(text)) {
    const bool goes_on = line.text.starts_with("[cases.") || line.text.starts_with("[[cases.");
    if (!line.inside_text && line.text.starts_with('[') && !goes_on) sections.push_back({line.text, {}});
    sections.back().lines.push_back(line);
  }
  return sections;
}

bool is_hidden_case(const Section& section) {
  static const std::regex kHidden(R"(hidden\s*=\s*true\s*(#.*)?)");
  return section.heading.starts_with("[[cases]]") &&
         std::any_of(section.lines.begin(), section.lines.end(),
                     [](const Line& line) { return !line.inside_text && std::regex_match(line.text, kHidden); });
}

/// Of a diagnosis its id and its sentence are left. A text of several lines goes with the line that begins it.
void drop_hint(Section& section) {
  static const std::regex kOfHint(R"((hint|level)\s*=.*)");
  std::vector<Line> left;
  bool dropping = false;
  for (Line& line : section.lines) {
    if (!line.inside_text) dropping = std::regex_match(line.text, kOfHint);
    if (!dropping) left.push_back(std::move(line));
  }
  section.lines = std::move(left);
}

/// The list of a milestone's cases, of those that are public.
std::string milestone_line(const Manifest& puzzle, const cases::Milestone& milestone) {
  std::string names;
  for (const std::string& name : milestone.cases) {
    if (!puzzle.find_case(name)->hidden) names += (names.empty() ? "\"" : ", \"") + name + "\"";
  }
  if (names.empty()) {
    throw std::runtime_error(fmt::format("{}: the milestone {} rests on hidden cases alone, which a handout has not",
                                         puzzle.id, milestone.letter));
  }
  return fmt::format("cases = [{}]", names);
}

void add_section(std::string& text, const Section& section, const std::string& cases_line) {
  bool replaced = false;
  for (const Line& line : section.lines) {
    if (!line.inside_text && line.text.starts_with('#')) continue;
    const bool is_list = !line.inside_text && !cases_line.empty() && line.text.starts_with("cases");
    if (is_list && !replaced) text += cases_line + "\n";
    replaced = replaced || is_list;
    if (!is_list) text += line.text + "\n";
  }
}

/// A paragraph, whose links may be broken into lines.
std::string linked(std::string rest, const std::function<bool(const std::string&)>& there) {
  static const std::regex kLink(R"(!?\[((?:[^\[\]`]|`[^`]*`)*)\]\(([^)\s]+)\))");
  std::string result;
  for (std::smatch link; std::regex_search(rest, link, kLink);) {
    const std::string target = link[2].str(), file = target.substr(0, target.find('#'));
    const bool stays = file.empty() || target.find(':') != std::string::npos || there(file);
    result += link.prefix().str() + (stays ? link[0].str() : link[1].str());
    rest = link.suffix().str();
  }
  return result + rest;
}

}  // namespace

std::string public_manifest(const std::string& text, const Manifest& puzzle, const std::string& clusters_folder,
                            bool with_hints) {
  std::string result;
  std::size_t milestone = 0;
  for (Section& section : sections_of(text)) {
    if (is_hidden_case(section)) continue;
    if (!with_hints && section.heading.starts_with("[[hints]]")) continue;
    if (!with_hints && section.heading.starts_with("[[diagnoses]]")) drop_hint(section);
    std::string cases_line;
    if (section.heading.starts_with("[[milestones]]")) {
      const cases::Milestone& next = puzzle.milestones.at(milestone++);
      if (!next.cases.empty()) cases_line = milestone_line(puzzle, next);
    }
    add_section(result, section, cases_line);
  }
  const Manifest left = cases::parse_manifest(result, puzzle.folder, clusters_folder);
  const auto is_hidden = [](const cases::Case& kase) { return kase.hidden; };
  const auto hidden = std::count_if(puzzle.cases.begin(), puzzle.cases.end(), is_hidden);
  // Whatever the file looks like: what is handed out has been counted.
  if (std::any_of(left.cases.begin(), left.cases.end(), is_hidden) ||
      std::ssize(left.cases) != std::ssize(puzzle.cases) - hidden) {
    throw std::runtime_error(fmt::format("{}: its hidden cases cannot be told apart in puzzle.toml", puzzle.id));
  }
  return result;
}

std::string public_goal(const std::string& text, const Manifest& puzzle, const std::string& clusters_folder) {
  grading::verdict::Verdict goal = grading::verdict::run_from_text(text, clusters_folder);
  std::erase_if(goal.cases, [&puzzle](const grading::verdict::CaseVerdict& kase) {
    const cases::Case* known = puzzle.find_case(kase.kase.name);
    return known == nullptr || known->hidden;
  });
  return grading::verdict::goal_to_text(goal, clusters_folder);
}

std::string without_dead_links(const std::string& markdown, const std::function<bool(const std::string&)>& there) {
  std::string result, paragraph;
  bool fenced = false;
  const auto end_paragraph = [&] {
    result += linked(paragraph, there);
    paragraph.clear();
  };
  for (const std::string& line : lines_of(markdown)) {
    const bool is_fence = line.starts_with("```");
    if (is_fence || fenced || line.empty()) end_paragraph();
    if (is_fence) fenced = !fenced;
    (is_fence || fenced ? result : paragraph) += line + "\n";
  }
  end_paragraph();
  return result;
}

}  // namespace shardlings::cli::kit

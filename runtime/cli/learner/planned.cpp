#include "cli/learner/planned.h"

#include <algorithm>
#include <tuple>

#include <toml++/toml.h>

#include "base/file.h"
#include "base/toml_section.h"

namespace shardlings::cli::learner {

std::vector<PlannedPuzzle> load_planned(const system::Project& project, const Course& course) {
  const std::string path = project.planned_file();
  const auto text = read_file(path);
  if (!text) return {};
  const toml::table file = toml::parse(*text, path);
  TomlSection root(file, path, "");
  root.has_only({"puzzles"});
  std::vector<PlannedPuzzle> planned;
  for (TomlSection& section : root.sections("puzzles")) {
    section.has_only({"number", "title", "chapter"});
    PlannedPuzzle puzzle{static_cast<int>(section.integer("number", 1)), section.text("title"),
                         section.text("chapter")};
    const auto& known = course.puzzles();
    const bool is_there = std::any_of(known.begin(), known.end(),
                                      [&](const cases::Manifest& each) { return each.number == puzzle.number; });
    if (!is_there) planned.push_back(std::move(puzzle));
  }
  std::sort(planned.begin(), planned.end(), [](const PlannedPuzzle& a, const PlannedPuzzle& b) {
    return std::tie(a.chapter, a.number) < std::tie(b.chapter, b.number);
  });
  return planned;
}

}  // namespace shardlings::cli::learner

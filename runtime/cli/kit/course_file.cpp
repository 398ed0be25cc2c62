#include "cli/kit/course_file.h"

#include <stdexcept>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/file.h"
#include "base/toml_section.h"
#include "cli/error.h"

namespace shardlings::cli::kit {

namespace {

toml::table parsed(const std::string& text, const std::string& path) {
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw std::runtime_error(fmt::format("{}:{}: {}", path, error.source().begin.line, error.description()));
  }
}

}  // namespace

CourseFile load_course_file(const std::string& path) {
  CourseFile course;
  course.name = "Puzzles on distributed training";
  if (path.empty()) return course;
  const auto text = read_file(path);
  if (!text) throw UsageError(fmt::format("--course: {} is no file that can be read.", path));
  const toml::table table = parsed(*text, path);
  TomlSection root(table, path, "");
  root.has_only({"name", "contact", "puzzles", "second_parts", "hints", "due"});
  course.name = root.text("name");
  course.contact = root.text_or("contact", "");
  course.puzzles = root.texts_or_none("puzzles");
  course.second_parts = root.flag_or("second_parts", true);
  course.hints = root.flag_or("hints", true);
  if (const toml::table* due = table["due"].as_table()) {
    for (const auto& [puzzle, when] : *due) {
      const auto* words = when.as_string();
      if (words == nullptr) root.fail("due", "write a text for each puzzle: due = { 09 = \"1 December, 18:00\" }");
      course.due[std::string(puzzle.str())] = words->get();
    }
  } else if (root.has("due")) {
    root.fail("due", "write a text for each puzzle: due = { 09 = \"1 December, 18:00\" }");
  }
  return course;
}

}  // namespace shardlings::cli::kit

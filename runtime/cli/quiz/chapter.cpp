#include "cli/quiz/chapter.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "base/file.h"
#include "base/random.h"
#include "base/text.h"
#include "base/toml_section.h"
#include "cli/error.h"
#include "cli/quiz/formulas.h"
#include "cli/terminal/memory_text.h"

namespace shardlings::cli::quiz {

namespace fs = std::filesystem;
using grading::verdict::Question;

namespace {

/// As people write it: times and sizes with their unit.
std::string written(const std::string& name, std::int64_t value) {
  if (name.ends_with("_ns")) return to_text(Nanos(value));
  return name == "bytes_per_second" ? terminal::size_text(Bytes(value)) : std::to_string(value);
}

/// "{ranks} ranks" with the numbers in place of their names.
std::string filled_in(std::string text, const Numbers& numbers) {
  for (const auto& [name, value] : numbers) {
    const std::string place = "{" + name + "}";
    for (std::size_t at = 0; (at = text.find(place, at)) != std::string::npos;) {
      text.replace(at, place.size(), written(name, value));
    }
  }
  return text;
}

/// One of the values of each name. Every question has numbers of its own.
Numbers drawn(TomlSection& section, const toml::table& choices, std::uint64_t seed, std::uint64_t question) {
  Numbers numbers;
  std::uint64_t index = 0;
  for (const auto& [name, values] : choices) {
    const toml::array* list = values.as_array();
    if (list == nullptr || list->empty()) section.fail("draw", fmt::format("draw.{} is no list", name.str()));
    const std::size_t pick = random_word_at(seed, index++, question) % list->size();
    numbers[std::string(name.str())] = list->get(pick)->value_or(std::int64_t{0});
  }
  return numbers;
}

/// A mistake is a factor that the right number is off by.
void add_mistakes(TomlSection& section, Question& question) {
  for (TomlSection& mistake : section.sections("mistakes")) {
    mistake.has_only({"factor", "reason"});
    const double factor = mistake.number_or("factor", 1, 0);
    question.mistakes.push_back(
        {std::llround(factor * static_cast<double>(question.value)), "", mistake.text("reason")});
  }
}

}  // namespace

std::vector<std::string> chapters_in(const std::string& folder) {
  std::vector<std::string> chapters;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".toml" && std::isdigit(static_cast<unsigned char>(name[0])) != 0)
      chapters.push_back(name);
  }
  std::sort(chapters.begin(), chapters.end());
  return chapters;
}

Chapter load_chapter(const std::string& folder, const std::string& chapter, std::uint64_t seed) {
  const std::string path = fmt::format("{}/{}.toml", folder, chapter);
  const auto text = read_file(path);
  const auto known = chapters_in(folder);
  if (!text || std::find(known.begin(), known.end(), chapter) == known.end()) {
    throw UsageError(fmt::format("There is no quiz \"{}\". There is one for chapters {}, and post for all of them.",
                                 chapter, fmt::join(known, ", ")));
  }
  const toml::table file = toml::parse(*text, path);
  TomlSection root(file, path, "");
  root.has_only({"title", "questions"});
  Chapter quiz;
  quiz.title = root.text("title");
  const toml::array& tables = *file["questions"].as_array();
  std::uint64_t index = 0;
  for (TomlSection& section : root.sections("questions")) {
    section.has_only({"id", "formula", "counted", "text", "why", "draw", "mistakes"});
    const toml::table* draw = tables[index].as_table()->get_as<toml::table>("draw");
    if (draw == nullptr) section.fail("draw", "the numbers to draw are missing");
    const Numbers numbers = drawn(section, *draw, seed, index++);
    const Amount amount = amount_of(section.text("formula"), numbers);
    Question& question = quiz.questions.emplace_back();
    question.id = section.text("id");
    question.text = filled_in(section.text("text"), numbers);
    question.unit = amount.unit;
    question.counted = section.text_or("counted", "");
    question.value = amount.value;
    question.formula = amount.formula;
    add_mistakes(section, question);
    quiz.explanations[question.id] = filled_in(section.text("why"), numbers);
  }
  return quiz;
}

}  // namespace shardlings::cli::quiz

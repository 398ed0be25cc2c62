#include "cli/author/lesson_numbers.h"

#include <cctype>

#include <fmt/format.h>

#include "cli/error.h"
#include "cli/learner/prediction.h"

namespace shardlings::cli::author {

using grading::verdict::Question;
using grading::verdict::Unit;

namespace {

constexpr std::string_view kAnswers = "\n## Questions and answers\n";

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// A number as a text has it, and the word that follows.
struct Written {
  std::string number;  ///< without commas: "10001"
  std::string word;    ///< "kB", "thousand"; may be empty
};

/// Commas stand between groups of three digits.
bool is_comma(std::string_view text, std::size_t at) {
  if (text[at] != ',' || at + 3 >= text.size()) return false;
  const bool three = is_digit(text[at + 1]) && is_digit(text[at + 2]) && is_digit(text[at + 3]);
  return three && (at + 4 == text.size() || !is_digit(text[at + 4]));
}

/// The number that begins at `at`, which is moved behind it and its word.
Written written_at(std::string_view text, std::size_t& at) {
  Written written;
  for (; at < text.size(); ++at) {
    const bool point = text[at] == '.' && at + 1 < text.size() && is_digit(text[at + 1]);
    if (is_digit(text[at]) || point) {
      written.number += text[at];
    } else if (!is_comma(text, at)) {
      break;
    }
  }
  std::size_t word = at;
  while (word < text.size() && (text[word] == ' ' || text[word] == '\n')) ++word;
  const auto in_word = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0; };
  while (word < text.size() && in_word(text[word])) written.word += text[word++];
  return written;
}

double power_of(const std::string& word) {
  if (word == "thousand") return 1e3;
  if (word == "million") return 1e6;
  return 1;
}

/// The text is an answer that is right.
bool is_right(const std::string& text, const Question& question, double times = 1) {
  try {
    return is_within(learner::number_in(text, question) * times, question.value, question.unit,
                     learner::written_as(text));
  } catch (const UsageError&) {
    return false;
  }
}

bool is_answer(const Written& written, const Question& question, UnitBeside unit) {
  const bool has_unit = question.unit == Unit::bytes || question.unit == Unit::ns;
  if (!has_unit) return is_right(written.number, question, power_of(written.word));
  if (!written.word.empty() && is_right(written.number + " " + written.word, question)) return true;
  return unit == UnitBeside::optional && is_right(written.number, question);
}

}  // namespace

std::string answer_in(std::string_view after, int number) {
  const auto section = after.find(kAnswers);
  if (section == std::string_view::npos) return {};
  std::string_view answers = after.substr(section + kAnswers.size());
  answers = answers.substr(0, answers.find("\n## "));
  const auto begin = answers.find(fmt::format("\n**{}.**", number));
  if (begin == std::string_view::npos) return {};
  const auto end = answers.find(fmt::format("\n**{}.**", number + 1));
  return std::string(answers.substr(begin, end == std::string_view::npos ? end : end - begin));
}

bool says(std::string_view text, const Question& question, UnitBeside unit) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_digit(text[at])) {
      ++at;
    } else if (is_answer(written_at(text, at), question, unit)) {
      return true;
    }
  }
  return false;
}

std::vector<std::string> answers_missing(const grading::verdict::Predictions& asked, std::string_view after) {
  std::vector<std::string> problems;
  for (const Question& question : asked.questions) {
    const std::string answer = answer_in(after, question.answer);
    if (answer.empty()) {
      problems.push_back(
          fmt::format("the prediction {} is answered by question {} of after.md, which has none of that "
                      "number",
                      question.id, question.answer));
    } else if (!says(answer, question)) {
      problems.push_back(
          fmt::format("the prediction {} is {}, and the answer to question {} of after.md does not say that number",
                      question.id, learner::number_of(question), question.answer));
    }
  }
  return problems;
}

std::vector<std::string> numbers_missing(const grading::verdict::Predictions& asked, std::string_view after) {
  std::vector<std::string> problems;
  for (const Question& question : asked.questions) {
    if (says(after, question, UnitBeside::optional)) continue;
    problems.push_back(fmt::format("the prediction {} is {}, and after.md, which should derive it, does not say it",
                                   question.id, learner::number_of(question)));
  }
  return problems;
}

}  // namespace shardlings::cli::author

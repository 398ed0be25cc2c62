#include "cli/learner/dialog.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/suggest.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/error.h"
#include "cli/learner/prediction.h"

namespace shardlings::cli::learner {

using grading::verdict::Question;
using nlohmann::json;
using report::Role;

namespace {

/// "peak in bytes".
std::string with_unit(const Question& question) {
  const std::string unit = unit_asked(question);
  return question.id + (unit.empty() || unit == question.id ? "" : " in " + unit);  // never "chunks in chunks"
}

Answer judged(const Question& question, const std::string& given) {
  const double number = number_in(given, question);
  return {&question, given, number, is_right(question, number, written_as(given))};
}

const Question& question_of(const Questionnaire& asked, const std::string& id) {
  std::vector<std::string> ids;
  for (const Question& question : asked.questions) {
    if (question.id == id) return question;
    ids.push_back(question.id);
  }
  throw UsageError(fmt::format("{} does not ask for \"{}\".{} It asks for {}.", asked.name, id, did_you_mean(id, ids),
                               fmt::join(ids, ", ")));
}

void print_filled(const Context& context, const std::string& text, int indent) {
  for (const std::string& line : fill_lines(text, context.width - indent)) {
    context.out << spaces(indent) << line << '\n';
  }
}

void print_verdict(const Context& context, const Answer& answer) {
  const std::string echo = echo_of(answer.number, *answer.question);
  context.out << (answer.right ? context.tick() : context.cross()) << ' ' << answer.question->id << ": " << echo
              << (answer.right ? ": right" : "") << '\n';
  if (!answer.right) print_filled(context, why_wrong(answer.given, *answer.question), 2);
}

/// An answer that was typed; nothing at the end of the input.
std::optional<std::string> line_of(const Context& context, const Question& question) {
  context.out << context.paint(Role::strong, with_unit(question) + ":") << ' ' << std::flush;
  std::string line;
  if (std::getline(std::cin, line)) return trimmed(line);
  context.out << '\n';
  return std::nullopt;
}

/// Asks until the answer is right or given up. False at the end of the input.
bool ask(const Context& context, const Questionnaire& asked, const Question& question) {
  context.out << '\n';
  print_filled(context, question.text, 0);
  for (int tries = 0; tries < kTries;) {
    const auto line = line_of(context, question);
    if (!line) return false;
    if (line->empty() || *line == "skip") break;
    try {
      const Answer answer = judged(question, *line);
      asked.note(answer);
      print_verdict(context, answer);
      if (answer.right) break;
      if (++tries == kTries) context.out << "  Go on with the next one.\n";
    } catch (const UsageError& error) {
      print_filled(context, error.what(), 2);
    }
  }
  print_filled(context, asked.explanation(question), 2);
  return true;
}

int ask_all(const Context& context, const Questionnaire& asked) {
  asked.print_heading();
  print_filled(context, asked.rule, 0);
  for (const Question& question : asked.questions) {
    if (asked.was_right(question)) {
      context.out << '\n' << context.tick() << ' ' << question.id << ": " << asked.done << " before\n";
      print_filled(context, asked.explanation(question), 2);
    } else if (!ask(context, asked, question)) {
      break;
    }
  }
  asked.print_count();
  return kPassed;
}

/// Reads "peak=12.5KiB".
std::vector<Answer> answers_in(const Questionnaire& asked, const std::vector<std::string>& arguments) {
  std::vector<Answer> all;
  for (const std::string& argument : arguments) {
    const auto sign = argument.find('=');
    if (sign == std::string::npos) {
      throw UsageError(
          fmt::format("\"{}\" is no answer: one is given as in {}=NUMBER.", argument, asked.questions.front().id));
    }
    all.push_back(judged(question_of(asked, argument.substr(0, sign)), argument.substr(sign + 1)));
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      if (all[i].question == all.back().question)
        throw UsageError(fmt::format("There are two answers for {}: one was expected.", all[i].question->id));
    }
  }
  return all;
}

/// The exit status: kPassed if all are right.
int status_of(const std::vector<Answer>& answers) {
  const bool right = std::all_of(answers.begin(), answers.end(), [](const Answer& answer) { return answer.right; });
  return right ? kPassed : kFailed;
}

/// What was asked and answered: a list of objects.
json questions_as_json(const Questionnaire& asked, const std::vector<Answer>& answers) {
  json list = json::array();
  for (const Question& question : asked.questions) {
    json entry = {{"id", question.id},
                  {"text", question.text},
                  {"unit", name_of(question.unit, question.counted)},
                  {"asked_in", unit_asked(question)},
                  {asked.done, asked.was_right(question)}};
    bool answered = false;
    for (const Answer& answer : answers) {
      if (answer.question != &question) continue;
      answered = true;
      entry["answer"] = {{"given", answer.given}, {"value", answer.number}, {"right", answer.right}};
      if (!answer.right) entry["answer"]["why"] = why_wrong(answer.given, question);
    }
    if (asked.explains_all || (answered && !asked.explanation(question).empty())) {
      entry.update({{"value", question.value}, {"formula", question.formula}, {"told", number_of(question)}});
    }
    list.push_back(entry);
  }
  return list;
}

int judge_all(const Context& context, const Questionnaire& asked, const std::vector<Answer>& answers) {
  for (const Answer& answer : answers) {
    if (asked.repeats_questions) print_filled(context, answer.question->text, 0);
    print_verdict(context, answer);
    if (!asked.explains_all) print_filled(context, asked.explanation(*answer.question), 2);
  }
  if (asked.explains_all) {
    context.out << '\n';
    for (const Question& question : asked.questions) print_filled(context, asked.explanation(question), 2);
  }
  asked.print_count();
  return status_of(answers);
}

}  // namespace

void print_questions(const Context& context, const Questionnaire& asked) {
  asked.print_heading();
  std::string command = asked.command;
  for (const Question& question : asked.questions) {
    context.out << '\n';
    print_filled(context, fmt::format("{}: {}", context.paint(Role::strong, with_unit(question)), question.text), 0);
    if (asked.explains_all) print_filled(context, asked.explanation(question), 2);
    command += " " + question.id + "=NUMBER";
  }
  context.out << "\nAnswer with " << command << '\n';
}

int hold_dialog(const Context& context, const Questionnaire& asked, const std::vector<std::string>& arguments) {
  const std::vector<Answer> answers = answers_in(asked, arguments);
  for (const Answer& answer : answers) asked.note(answer);
  if (!answers.empty()) return judge_all(context, asked, answers);
  if (isatty(STDIN_FILENO) == 1) return ask_all(context, asked);
  print_questions(context, asked);
  return kPassed;
}

int print_answered(const Context& context, const Questionnaire& asked, const std::vector<std::string>& arguments,
                   const std::function<json()>& about) {
  const std::vector<Answer> answers = answers_in(asked, arguments);
  for (const Answer& answer : answers) asked.note(answer);
  json all = about();
  all["questions"] = questions_as_json(asked, answers);
  context.out << all.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
  return status_of(answers);
}

}  // namespace shardlings::cli::learner

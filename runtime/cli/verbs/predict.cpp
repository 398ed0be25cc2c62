#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <ostream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/suggest.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/error.h"
#include "cli/learner/case_facts.h"
#include "cli/learner/course.h"
#include "cli/learner/prediction.h"
#include "cli/verbs/predict.h"
#include "cli/verbs/verbs.h"
#include "grading/predictions.h"

namespace shardlings::cli::verbs {

using cases::Manifest;
using grading::verdict::Predictions;
using grading::verdict::Question;
using nlohmann::json;
using report::Role;

namespace {

/// One answer, read and judged.
struct Judged {
  const Question* question = nullptr;
  std::string given;
  double number = 0;
  bool right = false;
};

/// "peak in bytes".
std::string with_unit(const Question& question) {
  const std::string unit = learner::unit_asked(question);
  return question.id + (unit.empty() ? "" : " in " + unit);
}

Judged judged(const Question& question, const std::string& given) {
  const double number = learner::number_in(given, question);
  return {&question, given, number, is_within(number, question.value, question.unit)};
}

/// A puzzle's questions and how far the learner is with them.
class Prediction {
 public:
  Prediction(const Context& context, const Manifest& puzzle, bool reveal)
      : context_(context),
        puzzle_(puzzle),
        asked_(grading::ask_for_predictions(context.project.puzzle_folder(puzzle.id), context.project.build)),
        past_(learner::load_progress(context.project.state()).of(puzzle.id)),
        is_open_(reveal || past_.solved()) {}

  bool asks_nothing() const { return asked_.questions.empty(); }
  std::vector<Judged> read(const std::vector<std::string>& answers) const;
  void note(const Judged& answer);
  int show(const std::vector<Judged>& answers) const;
  int show_json(const std::vector<Judged>& answers) const;
  int show_questions() const;
  int hold_dialog();

 private:
  enum class Next { question, end };
  const Question& find(const std::string& id) const;
  bool is_right(const Question& question) const;
  void fill(const std::string& text, int indent) const;
  void print_heading() const;
  void print_verdict(const Judged& answer) const;
  void print_number(const Question& question) const;
  void print_count() const;
  Next ask(const Question& question);
  std::optional<std::string> line_of(const Question& question) const;

  const Context& context_;
  const Manifest& puzzle_;
  const Predictions asked_;
  learner::PuzzleProgress past_;
  const bool is_open_;  ///< right numbers may be shown
};

const Question& Prediction::find(const std::string& id) const {
  std::vector<std::string> ids;
  for (const Question& question : asked_.questions) {
    if (question.id == id) return question;
    ids.push_back(question.id);
  }
  throw UsageError(fmt::format("Puzzle {} does not ask for \"{}\".{} It asks for {}.", puzzle_.id, id,
                               did_you_mean(id, ids), fmt::join(ids, ", ")));
}

std::vector<Judged> Prediction::read(const std::vector<std::string>& answers) const {
  std::vector<Judged> all;
  for (const std::string& answer : answers) {
    const auto sign = answer.find('=');
    if (sign == std::string::npos) {
      throw UsageError(
          fmt::format("\"{}\" is no answer: one is given as in {}=NUMBER.", answer, asked_.questions.front().id));
    }
    all.push_back(judged(find(answer.substr(0, sign)), answer.substr(sign + 1)));
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      if (all[i].question == all.back().question)
        throw UsageError(fmt::format("There are two answers for {}: one was expected.", all[i].question->id));
    }
  }
  return all;
}

bool Prediction::is_right(const Question& question) const {
  const auto found = past_.predictions.find(question.id);
  return found != past_.predictions.end() && found->second.right;
}

/// A folder that cannot be written costs the note, and not the answer.
void Prediction::note(const Judged& answer) {
  learner::note_answer(past_, asked_, answer.question->id, answer.right);
  try {
    learner::update_progress(context_.project.state(), [&](learner::Progress& progress) {
      learner::note_answer(progress.puzzles[puzzle_.id], asked_, answer.question->id, answer.right);
    });
  } catch (const std::runtime_error& error) {
    context_.err << "Your answer could not be noted: " << error.what() << '\n';
  }
}

void Prediction::fill(const std::string& text, int indent) const {
  for (const std::string& line : fill_lines(text, context_.width - indent)) {
    context_.out << spaces(indent) << line << '\n';
  }
}

void Prediction::print_heading() const {
  context_.out << context_.paint(Role::strong,
                                 fmt::format("{} {}: predict the case \"{}\"", learner::short_name(puzzle_),
                                             puzzle_.title, asked_.case_name))
               << '\n';
  for (const std::string& fact : learner::case_facts(*puzzle_.find_case(asked_.case_name))) fill(fact, 2);
}

void Prediction::print_verdict(const Judged& answer) const {
  const std::string echo = learner::echo_of(answer.number, *answer.question);
  context_.out << (answer.right ? context_.tick() : context_.cross()) << ' ' << answer.question->id << ": " << echo
               << (answer.right ? ": right" : "") << '\n';
  if (!answer.right) fill(learner::why_wrong(answer.given, *answer.question), 2);
}

void Prediction::print_number(const Question& question) const {
  fill(fmt::format("{}: {}", question.id, learner::number_of(question)), 2);
}

void Prediction::print_count() const {
  context_.out << fmt::format("\nPredicted so far: {} of {}.", past_.predicted(), asked_.questions.size());
  if (!is_open_ && past_.predicted() < std::ssize(asked_.questions)) {
    context_.out << " The numbers with their formulas: after the pass, or\n./shardlings predict "
                 << learner::short_name(puzzle_) << " --reveal";
  }
  context_.out << '\n';
}

int Prediction::show(const std::vector<Judged>& answers) const {
  for (const Judged& answer : answers) print_verdict(answer);
  if (is_open_) {
    context_.out << '\n';
    for (const Question& question : asked_.questions) print_number(question);
  }
  print_count();
  return std::all_of(answers.begin(), answers.end(), [](const Judged& answer) { return answer.right; }) ? kPassed
                                                                                                        : kFailed;
}

int Prediction::show_json(const std::vector<Judged>& answers) const {
  json questions = json::array();
  bool right = true;
  for (const Question& question : asked_.questions) {
    json entry = {{"id", question.id},
                  {"text", question.text},
                  {"unit", name_of(question.unit, question.counted)},
                  {"asked_in", learner::unit_asked(question)},
                  {"predicted", is_right(question)}};
    if (is_open_) entry.update({{"value", question.value}, {"formula", question.formula}});
    for (const Judged& answer : answers) {
      if (answer.question != &question) continue;
      right = right && answer.right;
      entry["answer"] = {{"given", answer.given}, {"value", answer.number}, {"right", answer.right}};
      if (!answer.right) entry["answer"]["why"] = learner::why_wrong(answer.given, question);
    }
    questions.push_back(entry);
  }
  const json all = {{"puzzle", puzzle_.id},
                    {"case", asked_.case_name},
                    {"questions", questions},
                    {"predicted", past_.predicted()},
                    {"to_predict", asked_.questions.size()}};
  context_.out << all.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
  return right ? kPassed : kFailed;
}

/// All of them, for somebody who does not answer now; with the numbers where they may be seen.
int Prediction::show_questions() const {
  print_heading();
  std::string command = "./shardlings predict " + learner::short_name(puzzle_);
  for (const Question& question : asked_.questions) {
    context_.out << '\n';
    fill(fmt::format("{}: {}", context_.paint(Role::strong, with_unit(question)), question.text), 0);
    if (is_open_) fill(learner::number_of(question), 2);
    command += " " + question.id + "=NUMBER";
  }
  context_.out << "\nAnswer with " << command << '\n';
  return kPassed;
}

/// An answer that was typed; nothing at the end of the input.
std::optional<std::string> Prediction::line_of(const Question& question) const {
  context_.out << context_.paint(Role::strong, with_unit(question) + ":") << ' ' << std::flush;
  std::string line;
  if (std::getline(std::cin, line)) return trimmed(line);
  context_.out << '\n';
  return std::nullopt;
}

Prediction::Next Prediction::ask(const Question& question) {
  context_.out << '\n';
  fill(question.text, 0);
  for (int tries = 0; tries < learner::kTries;) {
    const auto line = line_of(question);
    if (!line) return Next::end;
    if (line->empty() || *line == "skip") break;
    try {
      const Judged answer = judged(question, *line);
      note(answer);
      print_verdict(answer);
      if (answer.right) break;
      if (++tries == learner::kTries) context_.out << "  Go on with the next one.\n";
    } catch (const UsageError& error) {
      fill(error.what(), 2);
    }
  }
  if (is_open_) print_number(question);
  return Next::question;
}

int Prediction::hold_dialog() {
  print_heading();
  context_.out << "An answer within 1 % is right; an empty line goes on to the next one.\n";
  for (const Question& question : asked_.questions) {
    if (is_right(question)) {
      context_.out << '\n' << context_.tick() << ' ' << question.id << ": predicted before\n";
      if (is_open_) print_number(question);
    } else if (ask(question) == Next::end) {
      break;
    }
  }
  print_count();
  return kPassed;
}

/// "predict peak=3KB" names no puzzle.
PredictOptions in_order(PredictOptions options) {
  if (options.puzzle.find('=') == std::string::npos) return options;
  options.answers.insert(options.answers.begin(), options.puzzle);
  options.puzzle.clear();
  return options;
}

}  // namespace

int predict(const Context& context, const PredictOptions& asked) {
  const PredictOptions options = in_order(asked);
  const learner::Course course = learner::load_course(context.project);
  const Manifest& puzzle =
      learner::named_or_next(course, options.puzzle, learner::load_progress(context.project.state()));
  Prediction prediction(context, puzzle, options.reveal);
  if (prediction.asks_nothing()) throw UsageError("Puzzle " + puzzle.id + " asks for no predictions.");
  const std::vector<Judged> answers = prediction.read(options.answers);
  for (const Judged& answer : answers) prediction.note(answer);
  if (options.json) return prediction.show_json(answers);
  if (!answers.empty()) return prediction.show(answers);
  if (options.reveal || isatty(STDIN_FILENO) == 0) return prediction.show_questions();
  return prediction.hold_dialog();
}

void add_predict(CommandLine& line) {
  auto [options, verb] =
      line.verb<PredictOptions>("predict", "work out what a case will cost, before any code", predict);
  verb.positional("PUZZLE", options.puzzle, kPuzzleMeaning);
  verb.positional("ANSWER", options.answers, "peak=12.5KiB: judged at once, within 1 %; without one, asks");
  verb.flag("--reveal", options.reveal, "show the right numbers and their formulas");
  verb.flag("--json", options.json, kJsonMeaning);
}

}  // namespace shardlings::cli::verbs

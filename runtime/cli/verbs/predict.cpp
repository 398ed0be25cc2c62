#include <ostream>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/terminal_text.h"
#include "cli/error.h"
#include "cli/learner/case_facts.h"
#include "cli/learner/course.h"
#include "cli/learner/dialog.h"
#include "cli/learner/prediction.h"
#include "cli/system/unfinished_build.h"
#include "cli/terminal/progress_line.h"
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

Predictions questions_of(const Context& context, const Manifest& puzzle) {
  terminal::ProgressLine line(context);
  system::wait_until_built(context.project, puzzle.id, [&line](const std::string& text) { line.show(text); });
  line.end();
  return grading::ask_for_predictions(context.project.puzzle_folder(puzzle.id), context.project.build);
}

/// A puzzle's questions and how far the learner is with them.
class Prediction {
 public:
  Prediction(const Context& context, const Manifest& puzzle, bool reveal)
      : context_(context),
        puzzle_(puzzle),
        asked_(questions_of(context, puzzle)),
        past_(learner::load_progress(context.project.state()).of(puzzle.id)),
        is_open_(reveal || past_.solved()) {}

  bool asks_nothing() const { return asked_.questions.empty(); }
  learner::Questionnaire questionnaire();
  int show_json(const learner::Questionnaire& asked, const std::vector<std::string>& arguments);

 private:
  bool is_right(const Question& question) const;
  void note(const learner::Answer& answer);
  void print_heading() const;
  void print_count() const;

  const Context& context_;
  const Manifest& puzzle_;
  const Predictions asked_;
  learner::PuzzleProgress past_;
  const bool is_open_;  ///< right numbers may be shown
};

bool Prediction::is_right(const Question& question) const {
  const auto found = past_.predictions.find(question.id);
  return found != past_.predictions.end() && found->second.right;
}

/// A folder that cannot be written costs the note, and not the answer.
void Prediction::note(const learner::Answer& answer) {
  learner::note_answer(past_, asked_, answer.question->id, answer.right);
  try {
    learner::update_progress(context_.project.state(), [&](learner::Progress& progress) {
      learner::note_answer(progress.puzzles[puzzle_.id], asked_, answer.question->id, answer.right);
    });
  } catch (const std::runtime_error& error) {
    context_.err << "Your answer could not be noted: " << error.what() << '\n';
  }
}

void Prediction::print_heading() const {
  context_.out << context_.paint(Role::strong,
                                 fmt::format("{} {}: predict the case \"{}\"", learner::short_name(puzzle_),
                                             puzzle_.title, asked_.case_name))
               << '\n';
  for (const std::string& fact : learner::case_facts(*puzzle_.find_case(asked_.case_name))) {
    for (const std::string& line : fill_lines(fact, context_.width - 2)) context_.out << "  " << line << '\n';
  }
}

void Prediction::print_count() const {
  context_.out << fmt::format("\nPredicted so far: {} of {}.", past_.predicted(), asked_.questions.size());
  if (!is_open_ && past_.predicted() < std::ssize(asked_.questions)) {
    context_.out << " The numbers with their formulas: after the pass, or\n./shardlings predict "
                 << learner::short_name(puzzle_) << " --reveal";
  }
  context_.out << '\n';
}

learner::Questionnaire Prediction::questionnaire() {
  learner::Questionnaire asked;
  asked.name = "Puzzle " + puzzle_.id;
  asked.command = "./shardlings predict " + learner::short_name(puzzle_);
  asked.done = "predicted";
  asked.rule = "An answer within 1 % is right; an empty line goes on to the next one.";
  asked.questions = asked_.questions;
  asked.print_heading = [this] { print_heading(); };
  asked.note = [this](const learner::Answer& answer) { note(answer); };
  asked.was_right = [this](const Question& question) { return is_right(question); };
  asked.explanation = [this](const Question& question) {
    return is_open_ ? fmt::format("{}: {}", question.id, learner::number_of(question)) : std::string();
  };
  asked.explains_all = is_open_;
  asked.print_count = [this] { print_count(); };
  return asked;
}

int Prediction::show_json(const learner::Questionnaire& asked, const std::vector<std::string>& arguments) {
  return learner::print_answered(context_, asked, arguments, [this] {
    return json{{"puzzle", puzzle_.id},
                {"case", asked_.case_name},
                {"predicted", past_.predicted()},
                {"to_predict", asked_.questions.size()}};
  });
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
  const learner::Questionnaire questionnaire = prediction.questionnaire();
  if (options.json) return prediction.show_json(questionnaire, options.answers);
  if (options.reveal && options.answers.empty()) {
    learner::print_questions(context, questionnaire);
    return kPassed;
  }
  return learner::hold_dialog(context, questionnaire, options.answers);
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

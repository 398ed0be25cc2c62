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
using grading::verdict::When;
using nlohmann::json;
using report::Role;

namespace {

Predictions questions_of(const Context& context, const Manifest& puzzle, When when) {
  terminal::ProgressLine line(context);
  system::wait_until_built(context.project, puzzle.id, [&line](const std::string& text) { line.show(text); });
  line.end();
  return grading::ask_for_predictions(context.project.puzzle_folder(puzzle.id), context.project.build, when);
}

/// A puzzle's questions and how far the learner is with them.
class Prediction {
 public:
  Prediction(const Context& context, const Manifest& puzzle, const PredictOptions& options)
      : context_(context),
        puzzle_(puzzle),
        when_(options.after ? When::after : When::before),
        asked_(questions_of(context, puzzle, when_)) {
    learner::PuzzleProgress progress = learner::load_progress(context_.project.state()).of(puzzle_.id);
    is_open_ = options.reveal || (when_ == When::before && progress.solved());
    past_ = answers_of(progress);
  }

  bool asks_nothing() const { return asked_.questions.empty(); }
  learner::Questionnaire questionnaire();
  int show_json(const learner::Questionnaire& asked, const std::vector<std::string>& arguments);

 private:
  learner::PastAnswers& answers_of(learner::PuzzleProgress& progress) const {
    return when_ == When::before ? progress.predicted : progress.answered;
  }
  std::string command() const;
  std::string explanation_of(const Question& question) const;
  void note(const learner::Answer& answer);
  void print_heading() const;
  void print_count() const;

  const Context& context_;
  const Manifest& puzzle_;
  const When when_;
  const Predictions asked_;
  learner::PastAnswers past_;
  bool is_open_ = false;  ///< all right numbers may be shown
};

std::string Prediction::command() const {
  return "./shardlings predict " + learner::short_name(puzzle_) + (when_ == When::after ? " --after" : "");
}

/// A folder that cannot be written costs the note, and not the answer.
void Prediction::note(const learner::Answer& answer) {
  learner::note_answer(past_, asked_, answer.question->id, answer.right);
  try {
    learner::update_progress(context_.project.state(), [&](learner::Progress& progress) {
      learner::note_answer(answers_of(progress.puzzles[puzzle_.id]), asked_, answer.question->id, answer.right);
    });
  } catch (const std::runtime_error& error) {
    context_.err << "Your answer could not be noted: " << error.what() << '\n';
  }
}

/// After the pass a number is told to somebody who has it, or has tried often enough.
std::string Prediction::explanation_of(const Question& question) const {
  const auto past = past_.answers.find(question.id);
  const bool is_done = past != past_.answers.end() && (past->second.right || past->second.tries >= learner::kTries);
  if (!is_open_ && (when_ == When::before || !is_done)) return {};
  std::string text = fmt::format("{}: {}", question.id, learner::number_of(question));
  if (when_ == When::after) text += fmt::format(". The lesson's answer to question {} tells more.", question.answer);
  return text;
}

void Prediction::print_heading() const {
  const std::string about = when_ == When::before ? fmt::format("predict the case \"{}\"", asked_.case_name)
                                                  : fmt::format("on from the case \"{}\"", asked_.case_name);
  context_.out << context_.paint(Role::strong,
                                 fmt::format("{} {}: {}", learner::short_name(puzzle_), puzzle_.title, about))
               << '\n';
  for (const std::string& fact : learner::case_facts(*puzzle_.find_case(asked_.case_name), puzzle_)) {
    for (const std::string& line : fill_lines(fact, context_.width - 2)) context_.out << "  " << line << '\n';
  }
}

void Prediction::print_count() const {
  const bool before = when_ == When::before;
  context_.out << fmt::format("\n{} so far: {} of {}.", before ? "Predicted" : "Answered", past_.right(),
                              asked_.questions.size());
  if (!is_open_ && past_.right() < std::ssize(asked_.questions)) {
    context_.out << " The numbers with their formulas:" << (before ? " after the pass, or" : "") << '\n'
                 << command() << " --reveal";
  }
  if (!before)
    context_.out << "\nThe lesson's answers: ./shardlings explain " << learner::short_name(puzzle_) << " --after";
  context_.out << '\n';
}

learner::Questionnaire Prediction::questionnaire() {
  learner::Questionnaire asked;
  asked.name = "Puzzle " + puzzle_.id;
  asked.command = command();
  asked.done = when_ == When::before ? "predicted" : "answered";
  asked.rule = learner::kRuleOfAnswers;
  asked.questions = asked_.questions;
  asked.print_heading = [this] { print_heading(); };
  asked.note = [this](const learner::Answer& answer) { note(answer); };
  asked.was_right = [this](const Question& question) { return past_.was_right(question.id); };
  asked.explanation = [this](const Question& question) { return explanation_of(question); };
  asked.explains_all = is_open_;
  asked.print_count = [this] { print_count(); };
  return asked;
}

int Prediction::show_json(const learner::Questionnaire& asked, const std::vector<std::string>& arguments) {
  return learner::print_answered(context_, asked, arguments, [&] {
    return json{{"puzzle", puzzle_.id},
                {"case", asked_.case_name},
                {asked.done, past_.right()},
                {when_ == When::before ? "to_predict" : "to_answer", asked_.questions.size()}};
  });
}

/// Questions that go on from a puzzle say what its lesson lets everybody find.
int refuse_before_the_pass(const Context& context, const Manifest& puzzle) {
  const std::string name = learner::short_name(puzzle);
  context.err << fmt::format(
      "{0} is not solved yet, and these questions go on from where its lesson ends.\n"
      "Solve it first: ./shardlings run {1}. What can be asked before: ./shardlings predict {1}\n"
      "To see these questions and their numbers all the same: ./shardlings predict {1} --after --reveal\n",
      puzzle.id, name);
  return kFailed;
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
  const bool is_solved = learner::load_progress(context.project.state()).of(puzzle.id).solved();
  if (options.after && !options.reveal && !is_solved) return refuse_before_the_pass(context, puzzle);
  Prediction prediction(context, puzzle, options);
  if (prediction.asks_nothing()) {
    throw UsageError(
        fmt::format("Puzzle {} asks for no {}.", puzzle.id, options.after ? "number after the pass" : "predictions"));
  }
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
  verb.positional("ANSWER", options.answers, "peak=12.5KiB: judged at once; without one, asks");
  verb.flag("--after", options.after, "after the pass: the numbers in the lesson's questions");
  verb.flag("--reveal", options.reveal, "show the right numbers and their formulas");
  verb.flag("--json", options.json, kJsonMeaning);
}

}  // namespace shardlings::cli::verbs

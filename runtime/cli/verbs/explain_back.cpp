#include <ostream>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/learner/dialog.h"
#include "cli/learner/explain_back.h"
#include "cli/learner/last_run.h"
#include "cli/learner/prediction.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

using cases::Manifest;
using grading::verdict::CaseVerdict;
using nlohmann::json;
using report::Role;

namespace {

struct ExplainBackOptions {
  std::string puzzle;
  std::vector<std::string> answers;  ///< "last=3"
  bool json = false;
};

/// "explain-back last=3" names no puzzle.
ExplainBackOptions puzzle_first(ExplainBackOptions options) {
  if (options.puzzle.find('=') == std::string::npos) return options;
  options.answers.insert(options.answers.begin(), options.puzzle);
  options.puzzle.clear();
  return options;
}

/// A folder that cannot be written costs the note, and not the answer.
void note_explained(const Context& context, const std::string& id, int asked, const learner::Answer& answer) {
  try {
    learner::update_progress(context.project.state(), [&](learner::Progress& progress) {
      progress.puzzles[id].explained.asked = asked;
      progress.puzzles[id].explained.note(answer.question->id, answer.right);
    });
  } catch (const std::runtime_error& error) {
    context.err << "Your answer could not be noted: " << error.what() << '\n';
  }
}

learner::Questionnaire questionnaire_about(const Context& context, const Manifest& puzzle, const CaseVerdict& kase) {
  learner::Questionnaire asked;
  const std::string name = learner::short_name(puzzle);
  asked.name = "explain-back " + name;
  asked.command = "./shardlings explain-back " + name;
  asked.done = "explained";
  asked.rule = "The answers are in the timeline: ./shardlings run " + name + " -v, or ./shardlings view " + name + ".";
  asked.questions = learner::questions_about(kase);
  asked.repeats_questions = true;  // their times are those of the last run
  const int count = static_cast<int>(asked.questions.size());
  asked.print_heading = [&context, &puzzle, &kase, name] {
    const std::string text = fmt::format("{} {}: your last run of \"{}\"", name, puzzle.title, kase.kase.name);
    context.out << context.paint(Role::strong, text) << '\n';
  };
  asked.note = [&context, &puzzle, count](const learner::Answer& answer) {
    note_explained(context, puzzle.id, count, answer);
  };
  const learner::PastAnswers past = learner::load_progress(context.project.state()).of(puzzle.id).explained;
  asked.was_right = [past](const auto& question) { return past.was_right(question.id); };
  asked.explanation = [](const auto& question) { return "The trace says: " + learner::number_of(question) + "."; };
  asked.print_count = [&context, &puzzle, count] {
    const learner::PastAnswers now = learner::load_progress(context.project.state()).of(puzzle.id).explained;
    context.out << fmt::format("\nExplained so far: {} of {}.\n", now.right(), count);
  };
  return asked;
}

}  // namespace

/// `explain-back`: questions about the learner's own last run.
static int explain_back(const Context& context, const ExplainBackOptions& given) {
  const ExplainBackOptions options = puzzle_first(given);
  const learner::Course course = learner::load_course(context.project);
  const Manifest& puzzle = learner::named_or_last_run(context, course, options.puzzle);
  learner::refuse_question(puzzle, "ask about");
  const grading::verdict::Verdict run = learner::last_run(context, puzzle);
  const CaseVerdict& kase = learner::chosen_case(run, "");
  const learner::Questionnaire asked = questionnaire_about(context, puzzle, kase);
  if (asked.questions.empty()) {
    throw UsageError(fmt::format("The last run of {} did nothing that one could ask about.", puzzle.id));
  }
  if (!options.json) return learner::hold_dialog(context, asked, options.answers);
  return learner::print_answered(context, asked, options.answers, [&] {
    return json{{"puzzle", puzzle.id}, {"case", kase.kase.name}};
  });
}

void add_explain_back(CommandLine& line) {
  auto [options, verb] =
      line.verb<ExplainBackOptions>("explain-back", "questions about your own last run", explain_back);
  verb.positional("PUZZLE", options.puzzle, kLastPuzzleMeaning);
  verb.positional("ANSWER", options.answers, "last=3: judged at once; without one, asks");
  verb.flag("--json", options.json, kJsonMeaning);
}

}  // namespace shardlings::cli::verbs

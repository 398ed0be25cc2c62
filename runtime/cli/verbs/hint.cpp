#include <ostream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/terminal_text.h"
#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/learner/ladder.h"
#include "cli/terminal/markdown.h"
#include "cli/terminal/pager.h"
#include "cli/verbs/hint.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

using cases::Hint;
using cases::Manifest;
using nlohmann::json;
using report::Role;

namespace {

std::string hint_text(const Context& context, const Hint& hint, const std::string& heading) {
  return context.paint(Role::strong, fmt::format("{} ({})", heading, name_of(hint.level))) + "\n" +
         terminal::render_markdown(hint.text, context) + "\n";
}

int print_json(const Context& context, const Manifest& puzzle, const learner::Rung& rung, const Hint* hint) {
  const json value = {{"puzzle", puzzle.id},
                      {"level", hint ? json(name_of(hint->level)) : json(nullptr)},
                      {"text", hint ? json(hint->text) : json(nullptr)},
                      {"diagnosis", hint && !rung.diagnosis.empty() ? json(rung.diagnosis) : json(nullptr)},
                      {"given", rung.given},
                      {"total", rung.total}};
  context.out << value.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
  return kPassed;
}

/// Those given, in the order of the puzzle; after a pass all, since they teach then, too.
int print_all(const Context& context, const Manifest& puzzle, const learner::PuzzleProgress& past) {
  const auto shown = [&](const Hint& hint) { return past.solved() || learner::was_given(past, hint); };
  std::string text;
  for (const Hint& hint : puzzle.hints) {
    if (shown(hint)) text += hint_text(context, hint, "Hint");
  }
  for (const cases::Diagnosis& diagnosis : puzzle.diagnoses) {
    if (diagnosis.hint && shown(*diagnosis.hint))
      text += hint_text(context, *diagnosis.hint, "Hint on " + diagnosis.id);
  }
  terminal::print_paged(context, text);
  if (!past.solved() && past.hints.empty()) {
    context.out << "No hint was given yet: ./shardlings hint " << learner::short_name(puzzle) << '\n';
  }
  return kPassed;
}

}  // namespace

int hint(const Context& context, const HintOptions& options) {
  const learner::Course course = learner::load_course(context.project);
  learner::Progress progress = learner::load_progress(context.project.state());
  const Manifest& puzzle = learner::named_or_next(course, options.puzzle, progress);
  if (options.all && !options.json) return print_all(context, puzzle, progress.of(puzzle.id));

  const learner::Rung rung = learner::next_rung(puzzle, progress.of(puzzle.id));
  if (rung.hint) {
    try {
      learner::update_progress(context.project.state(),
                               [&](learner::Progress& p) { learner::give(p.puzzles[puzzle.id], *rung.hint); });
    } catch (const std::runtime_error& error) {
      context.err << "The hint could not be noted, so it will come again: " << error.what() << '\n';
    }
  }
  if (options.json) return print_json(context, puzzle, rung, rung.hint);
  if (!rung.hint && puzzle.hints.empty() && context.project.is_handout) {
    context.out << "Your course has handed out no hints.\n";
    return kPassed;
  }
  if (!rung.hint) {
    context.out << "There are no more hints. Those given: ./shardlings hint " << learner::short_name(puzzle)
                << " --all\n";
    return kPassed;
  }
  if (!rung.diagnosis.empty()) {
    const auto words = fill_lines("Your last graded run: " + rung.diagnosis_text, context.width);
    context.out << fmt::format("{}\n\n", fmt::join(words, "\n"));
    context.out << hint_text(context, *rung.hint, "Hint on that mistake");
  } else {
    context.out << hint_text(context, *rung.hint, fmt::format("Hint {} of {}", rung.given, rung.total));
  }
  if (!rung.diagnosis.empty() || rung.given < rung.total) {
    context.out << context.paint(Role::dim, "Not enough? Ask again for the next one.\n");
  }
  return kPassed;
}

void add_hint(CommandLine& line) {
  auto [options, verb] = line.verb<HintOptions>("hint", "the next hint", hint);
  verb.positional("PUZZLE", options.puzzle, kPuzzleMeaning);
  verb.flag("--all", options.all, "those given so far; once solved, all of them");
  verb.flag("--json", options.json, kJsonMeaning);
}

}  // namespace shardlings::cli::verbs

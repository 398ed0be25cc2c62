#include <ostream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/course.h"
#include "cli/error.h"
#include "cli/ladder.h"
#include "cli/markdown.h"
#include "cli/text.h"
#include "cli/verbs.h"

namespace shardlings::cli {

using grading::Hint;
using grading::Manifest;
using nlohmann::json;
using report::Role;

namespace {

void print_hint(const Context& context, const Hint& hint, const std::string& heading) {
  context.out << context.paint(Role::strong, fmt::format("{} ({})", heading, hint.level)) << '\n'
              << render_markdown(hint.text, context) << '\n';
}

int print_json(const Context& context, const Manifest& puzzle, const Rung& rung, const Hint* hint) {
  const json value = {{"puzzle", puzzle.id},
                      {"level", hint ? json(hint->level) : json(nullptr)},
                      {"text", hint ? json(hint->text) : json(nullptr)},
                      {"diagnosis", hint && !hint->diagnosis.empty() ? json(hint->diagnosis) : json(nullptr)},
                      {"given", rung.given},
                      {"total", rung.total}};
  context.out << value.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
  return kPassed;
}

/// Those given, in the order in which they were; after a pass all, since they teach then, too.
int print_all(const Context& context, const Manifest& puzzle, const PuzzleProgress& past) {
  for (const Hint& hint : puzzle.hints) {
    if (!past.solved() && !was_given(past, hint)) continue;
    print_hint(context, hint, hint.diagnosis.empty() ? "Hint" : "Hint on " + hint.diagnosis);
  }
  if (!past.solved() && past.hints.empty()) {
    context.out << "No hint was given yet: ./shardlings hint " << short_name(puzzle) << '\n';
  }
  return kPassed;
}

}  // namespace

int hint(const Context& context, const HintOptions& options) {
  const Course course = load_course(context.project);
  Progress progress = load_progress(context.project.state());
  const Manifest& puzzle = named_or_next(course, options.puzzle, progress);
  if (options.all && !options.json) return print_all(context, puzzle, progress.of(puzzle.id));

  const Rung rung = next_rung(puzzle, progress.of(puzzle.id));
  if (rung.hint) {
    try {
      update_progress(context.project.state(), [&](Progress& p) { give(p.puzzles[puzzle.id], *rung.hint); });
    } catch (const std::runtime_error& error) {
      context.err << "The hint could not be noted, so it will come again: " << error.what() << '\n';
    }
  }
  if (options.json) return print_json(context, puzzle, rung, rung.hint);
  if (!rung.hint) {
    context.out << "There are no more hints. Those given: ./shardlings hint " << short_name(puzzle) << " --all\n";
    return kPassed;
  }
  if (!rung.hint->diagnosis.empty()) {
    const auto words = wrapped("Your last run: " + rung.diagnosis_text, context.width);
    context.out << fmt::format("{}\n\n", fmt::join(words, "\n"));
    print_hint(context, *rung.hint, "Hint on that mistake");
  } else {
    print_hint(context, *rung.hint, fmt::format("Hint {} of {}", rung.given, rung.total));
  }
  if (!rung.hint->diagnosis.empty() || rung.given < rung.total) {
    context.out << context.paint(Role::dim, "Not enough? Ask again for the next one.\n");
  }
  return kPassed;
}

}  // namespace shardlings::cli

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "base/terminal_text.h"
#include "cli/error.h"
#include "cli/kit/stubs.h"
#include "cli/learner/course.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

using report::Role;

namespace {

constexpr const char* kWelcome =
    "Each puzzle is one small C++ file with a hole in it. Fill the hole, save, and see what it computed, what it cost, "
    "and where the time went.";

/// "Last run: 40 of 100 points.", or nothing for a puzzle that was never run.
std::string last_run(const learner::PuzzleProgress& progress, const cases::Manifest& puzzle) {
  if (progress.last_hash.empty()) return {};
  return fmt::format("Last run: {} of {} points.\n", progress.last_points, puzzle.max_points());
}

void print_next(const Context& context, const cases::Manifest& puzzle, const learner::Progress& progress) {
  const std::string name = learner::short_name(puzzle);
  const auto line = [&](const char* command, const std::string& argument, const char* meaning) {
    const std::string words = fmt::format("./shardlings {}{}{}", command, argument.empty() ? "" : " ", argument);
    context.out << "  " << context.paint(Role::strong, fmt::format("{:<30}", words)) << meaning << '\n';
  };
  context.out << "Next: " << context.paint(Role::strong, fmt::format("{} {}", name, puzzle.title)) << '\n';
  for (const std::string& words : fill_lines(puzzle.summary, context.width - 6))
    context.out << "      " << words << '\n';
  context.out << "Edit: " << context.paint(Role::place, system::shown_path(context.project.puzzle_file(puzzle.id)))
              << (puzzle.answer_lines > 0 ? fmt::format(" (about {} lines)", puzzle.answer_lines) : "") << '\n'
              << last_run(progress.of(puzzle.id), puzzle);
  if (const std::string words = kit::words_on_newer_stub(context.project, puzzle.id); !words.empty()) {
    context.out << context.wrapped(words);
  }
  context.out << '\n';
  if (progress.puzzles.empty()) line("explain", "00", "what all this is about");
  line("explain", name, "the lesson");
  line("predict", name, "what it will cost, before any code");
  line("watch", "", "grade on every save");
  line("run", name, "grade once");
  line("hint", name, "one step of help");
  line("list", "", "all puzzles");
}

}  // namespace

int overview(const Context& context) {
  const learner::Course course = learner::load_course(context.project);
  learner::tell_of_faulty(context, course);
  const learner::Progress progress = learner::load_progress(context.project.state());
  if (!progress.warning.empty()) context.err << progress.warning << '\n';

  const auto solved = std::count_if(course.puzzles().begin(), course.puzzles().end(),
                                    [&](const cases::Manifest& p) { return progress.of(p.id).solved(); });
  if (progress.puzzles.empty()) {
    context.out << context.paint(Role::strong, "Welcome to Shardlings.") << '\n';
    for (const std::string& words : fill_lines(kWelcome, context.width)) context.out << words << '\n';
    context.out << '\n';
  } else {
    context.out << fmt::format("{} of {} puzzles solved.\n", solved, course.puzzles().size());
  }
  if (const cases::Manifest* next = course.next(progress)) {
    print_next(context, *next, progress);
  } else {
    context.out << context.tick() << " Nothing is left to solve. Solutions are worth reading: ./shardlings solution "
                << learner::short_name(course.puzzles().back()) << '\n';
  }
  return kPassed;
}

}  // namespace shardlings::cli::verbs

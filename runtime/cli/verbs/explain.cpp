#include <ostream>

#include <fmt/format.h>

#include "base/file.h"
#include "base/terminal_text.h"
#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/learner/goal_picture.h"
#include "cli/terminal/markdown.h"
#include "cli/terminal/pager.h"
#include "cli/verbs/explain.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

using cases::Manifest;

namespace {

std::string first_part(const Context& context, const Manifest& puzzle, bool open) {
  const std::string path = context.project.lesson_file(puzzle.id);
  const auto lesson = read_file(path);
  if (!lesson) throw UsageError("There is no lesson " + system::shown_path(path) + ".");
  return learner::with_goal(context, puzzle, *lesson, open);
}

/// What to do once the lesson has been read.
std::string next_steps(const Context& context, const Manifest& puzzle) {
  const std::string name = learner::short_name(puzzle);
  const std::string file = system::shown_path(context.project.puzzle_file(puzzle.id));
  return "\nEdit " + context.paint(report::Role::place, file) + ", then ./shardlings run " + name + "\n";
}

/// The last line of a lesson whose second part is still to come.
std::string what_is_left(const Context& context) {
  std::string text;
  for (const std::string& line : fill_lines(
           "The rest (costs, common mistakes, answers) is shown after the pass, or with --all.", context.width)) {
    text += context.paint(report::Role::dim, line) + "\n";
  }
  return text;
}

/// Lesson 00: what the course is about. No puzzle has the number.
constexpr const char* kMap = "00";

std::string map_of_the_course(const Context& context) {
  const auto map = read_file(context.project.map_file());
  if (!map) throw UsageError("There is no " + system::shown_path(context.project.map_file()) + ".");
  return terminal::render_markdown(*map, context);
}

}  // namespace

int explain(const Context& context, const ExplainOptions& options) {
  if (options.puzzle == kMap) {
    terminal::print_paged(context, map_of_the_course(context));
    return kPassed;
  }
  const learner::Course course = learner::load_course(context.project);
  const learner::Progress progress = learner::load_progress(context.project.state());
  const Manifest& puzzle = learner::named_or_next(course, options.puzzle, progress);
  const bool solved = progress.of(puzzle.id).solved(), open = solved || options.all;
  const auto rest = read_file(context.project.after_file(puzzle.id));
  if (options.after && !rest) throw UsageError("The lesson of " + puzzle.id + " has no second part.");
  if (options.after && !open) {
    context.err << fmt::format(
        "{} is not solved yet, and the second part of its lesson gives the answer away.\n"
        "To read it all the same: ./shardlings explain {} --all\n",
        puzzle.id, learner::short_name(puzzle));
    return kFailed;
  }
  std::string markdown = options.after ? "" : first_part(context, puzzle, open);
  if (rest && open) markdown += (markdown.empty() ? "" : "\n") + *rest;
  std::string text = terminal::render_markdown(markdown, context);
  if (!options.after) text += next_steps(context, puzzle);
  if (rest && !open) text += what_is_left(context);
  terminal::print_paged(context, text);
  return kPassed;
}

void add_explain(CommandLine& line) {
  auto [options, verb] = line.verb<ExplainOptions>("explain", "the lesson, in the terminal", explain);
  verb.positional("PUZZLE", options.puzzle, kPuzzleMeaning);
  verb.flag("--after", options.after, "only what is shown after the pass: costs, mistakes, answers");
  verb.flag("--all", options.all, "all of it, before the pass, too");
}

}  // namespace shardlings::cli::verbs

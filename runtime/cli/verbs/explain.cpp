#include <ostream>

#include "base/file.h"
#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/learner/goal_picture.h"
#include "cli/system/program.h"
#include "cli/terminal/markdown.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

namespace {

struct ExplainOptions {
  std::string puzzle;
};

}  // namespace

/// `explain`: the lesson.
static int explain(const Context& context, const ExplainOptions& options) {
  const learner::Course course = learner::load_course(context.project);
  const auto& puzzle = learner::named_or_next(course, options.puzzle, learner::load_progress(context.project.state()));
  const std::string path = context.project.puzzle_folder(puzzle.id) + "/README.md";
  const auto lesson = read_file(path);
  if (!lesson) throw UsageError("There is no lesson " + system::shown_path(path) + ".");
  const std::string file = system::shown_path(context.project.puzzle_file(puzzle.id));
  const std::string text = terminal::render_markdown(learner::with_goal(context, puzzle, *lesson), context) +
                           "\nEdit " + context.paint(report::Role::place, file) + ", then ./shardlings run " +
                           learner::short_name(puzzle) + "\n";
  // less ends at once where the text fits the screen, and leaves it there.
  if (context.interactive && system::feed_program({"less", "-RFX"}, text) == 0) return kPassed;
  context.out << text;
  return kPassed;
}

void add_explain(CommandLine& line) {
  auto [options, verb] = line.verb<ExplainOptions>("explain", "the lesson, in the terminal", explain);
  verb.positional("PUZZLE", options.puzzle, kPuzzleMeaning);
}

}  // namespace shardlings::cli::verbs

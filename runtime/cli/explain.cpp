#include <ostream>

#include "cli/course.h"
#include "cli/error.h"
#include "cli/file.h"
#include "cli/goal.h"
#include "cli/markdown.h"
#include "cli/process.h"
#include "cli/verbs.h"

namespace shardlings::cli {

int explain(const Context& context, const ExplainOptions& options) {
  const Course course = load_course(context.project);
  const auto& puzzle = named_or_next(course, options.puzzle, load_progress(context.project.state()));
  const std::string path = context.project.puzzle_folder(puzzle.id) + "/README.md";
  const auto lesson = read_file(path);
  if (!lesson) throw UsageError("There is no lesson " + shown_path(path) + ".");
  const std::string file = shown_path(context.project.puzzle_file(puzzle.id));
  const std::string text = render_markdown(with_goal(context, puzzle, *lesson), context) + "\nEdit " +
                           context.paint(report::Role::place, file) + ", then ./shardlings run " + short_name(puzzle) +
                           "\n";
  // less ends at once where the text fits the screen, and leaves it there.
  if (context.interactive && feed_program({"less", "-RFX"}, text) == 0) return kPassed;
  context.out << text;
  return kPassed;
}

}  // namespace shardlings::cli

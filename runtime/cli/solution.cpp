#include <ostream>

#include "cli/course.h"
#include "cli/error.h"
#include "cli/file.h"
#include "cli/verbs.h"

namespace shardlings::cli {

int solution(const Context& context, const SolutionOptions& options) {
  const Course course = load_course(context.project);
  const auto& puzzle = course.find(options.puzzle);
  const Progress progress = load_progress(context.project.state());
  if (!options.spoil && !progress.of(puzzle.id).solved()) {
    context.err << puzzle.id << " is not solved yet. The next hint: ./shardlings hint " << short_name(puzzle)
                << "\nTo see the solution all the same: ./shardlings solution " << short_name(puzzle) << " --spoil\n";
    return kFailed;
  }
  const std::string path = context.project.solution_file(puzzle.id);
  const auto text = read_file(path);
  if (!text) throw UsageError("There is no solution " + shown_path(path) + ".");
  context.out << *text;
  return kPassed;
}

}  // namespace shardlings::cli

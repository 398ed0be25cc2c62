#include <ostream>

#include "base/file.h"
#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/terminal/pager.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

namespace {

struct SolutionOptions {
  std::string puzzle;
  bool spoil = false;
};

}  // namespace

/// `solution`: the solution's text, once solved.
static int solution(const Context& context, const SolutionOptions& options) {
  const learner::Course course = learner::load_course(context.project);
  const auto& puzzle = course.find(options.puzzle);
  const learner::Progress progress = learner::load_progress(context.project.state());
  if (!options.spoil && !progress.of(puzzle.id).solved()) {
    context.err << puzzle.id << " is not solved yet. The next hint: ./shardlings hint " << learner::short_name(puzzle)
                << "\nTo see the solution all the same: ./shardlings solution " << learner::short_name(puzzle)
                << " --spoil\n";
    return kFailed;
  }
  const std::string path = context.project.solution_file(puzzle.id);
  const auto text = read_file(path);
  if (!text) throw UsageError("There is no solution " + system::shown_path(path) + ".");
  terminal::print_paged(context, *text);
  return kPassed;
}

void add_solution(CommandLine& line) {
  auto [options, verb] = line.verb<SolutionOptions>("solution", "the solution, once solved", solution);
  verb.required("PUZZLE", options.puzzle, kNamedPuzzleMeaning);
  verb.flag("--spoil", options.spoil, "even if the puzzle is not solved");
}

}  // namespace shardlings::cli::verbs

#include <ostream>
#include <stdexcept>

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

/// Courses see that of a result. A folder that cannot be written costs the note, not the answer.
void note_as_shown(const Context& context, const std::string& id) {
  try {
    learner::update_progress(context.project.state(),
                             [&](learner::Progress& progress) { progress.puzzles[id].solution_shown = true; });
  } catch (const std::runtime_error& error) {
    context.err << "That you have seen it could not be noted: " << error.what() << '\n';
  }
}

}  // namespace

/// `solution`: the solution's text, once solved.
static int solution(const Context& context, const SolutionOptions& options) {
  const learner::Course course = learner::load_course(context.project);
  const auto& puzzle = course.find(options.puzzle);
  if (context.project.is_handout) throw UsageError("Solutions are your course's to give: this repository has none.");
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
  if (!progress.of(puzzle.id).solved()) note_as_shown(context, puzzle.id);
  terminal::print_paged(context, *text);
  return kPassed;
}

void add_solution(CommandLine& line) {
  auto [options, verb] = line.verb<SolutionOptions>("solution", "the solution, once solved", solution);
  verb.required("PUZZLE", options.puzzle, kNamedPuzzleMeaning);
  verb.flag("--spoil", options.spoil, "even if the puzzle is not solved");
}

}  // namespace shardlings::cli::verbs

#include <algorithm>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/terminal/progress_line.h"
#include "cli/verbs/verbs.h"
#include "grading/build/kept_build.h"
#include "grading/run/supervisor.h"
#include "report/simulation_text.h"
#include "simulation/layout.h"

namespace shardlings::cli::verbs {

namespace build = grading::build;

namespace {

struct SimulateOptions {
  std::string puzzle;
  std::string file;       ///< empty: the learner's own
  bool solution = false;  ///< simulate that
  bool json = false;
  simulation::Wish wish;
};

cases::Case case_wished_for(const Context& context, const cases::Manifest& puzzle, const simulation::Wish& wish) try {
  return simulation::case_of(puzzle, wish, {context.project.transformers(), context.project.clusters()});
} catch (const std::exception& error) {
  throw UsageError(error.what());
}

/// What a failure says is as long as the ranks that it is about; a screen of it is enough.
std::string shortened(const std::string& text) {
  constexpr std::size_t kMost = 4000;
  if (text.size() <= kMost) return text;
  const std::size_t end = text.rfind('\n', kMost);
  return text.substr(0, end == std::string::npos ? kMost : end) +
         fmt::format("\n… and {} lines more of the same kind",
                     std::count(text.begin() + static_cast<std::ptrdiff_t>(kMost), text.end(), '\n') + 1);
}

std::string heading(const cases::Case& kase, const std::string& path) {
  const int each = kase.cluster.ranks_per_node;
  const int nodes = (kase.ranks + each - 1) / each;
  return fmt::format("{} on {} ranks of {} ({} {}), f32", system::shown_path(path), kase.ranks, kase.cluster.name,
                     nodes, nodes == 1 ? "node" : "nodes");
}

}  // namespace

/// `simulate`: a case of any size, without numbers.
static int simulate(const Context& context, const SimulateOptions& options) {
  const learner::Course course = learner::load_course(context.project);
  const cases::Manifest& puzzle =
      learner::named_or_next(course, options.puzzle, learner::load_progress(context.project.state()));
  cases::Case kase = case_wished_for(context, puzzle, options.wish);
  kase.traced = std::vector<int>();
  const std::string own =
      options.solution ? context.project.solution_file(puzzle.id) : context.project.puzzle_file(puzzle.id);
  const std::string path = std::filesystem::absolute(options.file.empty() ? own : options.file).string();
  terminal::ProgressLine line(context);
  const build::BuildOutcome outcome =
      build::kept_build({context.project.build, "simulated", puzzle.id, context.project.puzzle_folder(puzzle.id)},
                        build::copy_source(path), {}, [&line] { line.show("building"); });
  if (!outcome.built) {
    line.end();
    context.out << outcome.log;
    return kFailed;
  }
  line.show(fmt::format("simulating {} ranks", kase.ranks));
  const auto backend = grading::run::Backend::dry;
  const wire::Result result =
      grading::run::run_case(outcome.program, kase, grading::run::default_limits(kase.ranks, backend), backend);
  line.end();
  if (options.json && result.ending == wire::Ending::finished) {
    context.out << report::simulation_json(kase, result.report, {result.seconds}) << '\n';
    return kPassed;
  }
  context.out << heading(kase, path) << '\n';
  if (result.ending != wire::Ending::finished) {
    context.out << shortened(result.explanation) << '\n';
    return wire::can_be_judged(result.ending) ? kFailed : kNotJudged;
  }
  for (const std::string& text : report::simulation_lines(kase, result.report, {result.seconds},
                                                          report::Style(context.colour, context.charset))) {
    context.out << text << '\n';
  }
  context.out << fmt::format("Numbers were not computed: ./shardlings run {:02} checks them.\n", puzzle.number);
  return kPassed;
}

void add_simulate(CommandLine& line) {
  auto [options, verb] =
      line.verb<SimulateOptions>("simulate", "your program on thousands of ranks, without its numbers", simulate);
  constexpr Interval kAny{1, 1 << 20};
  verb.positional("PUZZLE", options.puzzle, kPuzzleMeaning);
  verb.number("--ranks", options.wish.ranks, "how many; without it: as the case has, or as --parallel says", kAny);
  verb.text("--parallel", options.wish.parallel, "how they are divided: tp=8,pp=16,dp=128,v=2");
  verb.text("--model", options.wish.model, "a model by name (llama-405b, gpt3-175b, …) or by its sizes");
  verb.text("--cluster", options.wish.cluster, "dgx_h100, dgx_a100, …; without it: the case's");
  verb.number("--micro-batches", options.wish.micro_batches, "of each rank", kAny);
  verb.number("--batch", options.wish.batch, "sequences of a micro-batch", kAny);
  verb.flag("--json", options.json, "print what came of it as JSON");
  verb.flag("--unlimited", options.wish.unlimited, "let the devices have as much memory as is asked for");
  verb.each("--set", options.wish.set, "NAME=NUMBER", "another value for a number of the case: bucket=300");
  verb.text("--case", options.wish.base, "the case that all else is taken from; without it: the first");
  verb.text("--file", options.file, "another file as that puzzle");
  verb.flag("--solution", options.solution, "the puzzle's solution in place of your file");
  verb.excludes("--solution", "--file");
}

}  // namespace shardlings::cli::verbs

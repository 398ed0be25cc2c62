#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/author/variants.h"
#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/learner/last_run.h"
#include "cli/terminal/progress_line.h"
#include "cli/verbs/simulate.h"
#include "cli/verbs/verbs.h"
#include "grading/build/call_lines.h"
#include "grading/build/kept_build.h"
#include "grading/run/backend_choice.h"
#include "grading/run/supervisor.h"
#include "report/harmless.h"
#include "report/simulation_text.h"
#include "report/sweep_page.h"
#include "report/sweep_text.h"
#include "simulation/folding.h"
#include "simulation/kinds.h"
#include "simulation/layout.h"
#include "simulation/sweep.h"
#include "simulation/trust.h"

namespace shardlings::cli::verbs {

namespace build = grading::build;

namespace {

simulation::Files files_of(const Context& context) {
  return {context.project.transformers(), context.project.clusters(), context.project.stacks()};
}

simulation::WishedCase wished_case(const Context& context, const cases::Manifest& puzzle,
                                   const simulation::Wish& wish) try {
  return simulation::wished_case(puzzle, wish, files_of(context));
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

/// "mixed precision, stack megatron-2021, recompute full".
std::string execution_of(const cases::Case& kase) {
  std::string text = simulation::precision_text(kase.cluster);
  if (kase.execution.stack) text += ", stack " + simulation::stack_of(kase);
  if (kase.execution.recompute == model::Recompute::off) return text;
  return text + fmt::format(", recompute {}", model::kRecomputeWords.of(kase.execution.recompute));
}

std::string heading(const cases::Case& kase, const std::string& path) {
  const int each = kase.cluster.ranks_per_node;
  const int nodes = (kase.ranks + each - 1) / each;
  return fmt::format("{} on {} {} of {} ({} {}), {}", system::shown_path(path), kase.ranks,
                     kase.ranks == 1 ? "rank" : "ranks", kase.cluster.name, nodes, nodes == 1 ? "node" : "nodes",
                     execution_of(kase));
}

/// What came of a run.
struct Simulated {
  wire::Result result;
  bool folded = false;
  std::string folding{};  ///< what is said of that; empty: nobody has asked for it
};

/// A program and what is asked of it.
struct Simulation {
  const Context& context;
  const SimulateOptions& options;
  const cases::Manifest& puzzle;
  std::string path;
  grading::run::Submission submission{""};

  /// Without a trace, but for the ranks of `traced`: of thousands of ranks it would take gigabytes.
  /// What cannot be folded is run whole: a program whose replicas are not equal, or that fails.
  Simulated run(cases::Case kase, std::vector<int> traced = {}) const {
    kase.traced = std::move(traced);
    if (!kase.folded) return {run_once(kase)};
    std::string fault = "some ranks leave a trace";
    if (kase.traced->empty()) {
      Simulated folded{run_once(kase), true, simulation::fold_text(kase)};
      const bool finished = folded.result.ending == wire::Ending::finished;
      fault = finished ? simulation::fault_of_fold(kase, folded.result.report) : "a rank failed";
      if (fault.empty()) return folded;
    }
    kase.folded = false;
    return {run_once(kase), false, "not folded: " + fault};
  }

  wire::Result run_once(const cases::Case& kase) const {
    const auto backend = grading::run::Backend::dry;
    return run_case(submission, kase, grading::run::default_limits(kase.ranks, backend), backend);
  }
};

/// False, and the compiler's words are printed, if the source does not build.
bool is_built(Simulation& simulation, terminal::ProgressLine& line) {
  const system::Project& project = simulation.context.project;
  const std::string& id = simulation.puzzle.id;
  const build::SourceCopy source = build::copy_source(simulation.path);
  const build::BuildOutcome outcome = build::kept_build({project.build, "simulated", id, project.puzzle_folder(id)},
                                                        source, {}, [&line] { line.show("building"); });
  simulation.submission.program = outcome.program;
  simulation.submission.source = source.name;
  simulation.submission.call_lines = build::call_lines(source.text);
  if (outcome.built) return true;
  line.end();
  simulation.context.out << report::harmless(outcome.log, simulation.context.charset);
  return false;
}

int simulate_one(const Simulation& simulation, terminal::ProgressLine& line) {
  const Context& context = simulation.context;
  const simulation::WishedCase wished = wished_case(context, simulation.puzzle, simulation.options.wish);
  const cases::Case& kase = wished.kase;
  line.show(fmt::format("simulating {} ranks", kase.ranks));
  const PictureOptions& pictures = simulation.options.pictures;
  const Simulated simulated = simulation.run(kase, pictures.any() ? ranks_shown(pictures, kase) : std::vector<int>());
  const wire::Result& result = simulated.result;
  line.end();
  // JSON stands alone on the standard output, so that programs can read it.
  const Context speaking{context.project, simulation.options.json ? context.err : context.out, context.err};
  if (result.ending == wire::Ending::finished) write_pictures(speaking, pictures, simulation.puzzle, kase, result);
  if (simulation.options.json && result.ending == wire::Ending::finished) {
    cases::Case run = kase;
    run.folded = simulated.folded;
    context.out << report::simulation_json(run, result.report, {result.seconds}) << '\n';
    return kPassed;
  }
  context.out << heading(kase, simulation.path) << '\n';
  if (result.ending != wire::Ending::finished) {
    context.out << report::harmless(shortened(result.explanation), context.charset) << '\n';
    if (result.report.failure && result.report.failure->kind == front::FailureKind::not_implemented) {
      context.out << (context.project.is_handout
                          ? "Fill the hole first.\n"
                          : "Fill the hole first, or simulate the project's own solution: --solution\n");
    }
    return wire::can_be_judged(result.ending) ? kFailed : kNotJudged;
  }
  const report::Style style(context.colour, context.charset);
  for (const std::string& text : report::simulation_lines(kase, result.report, {result.seconds}, style)) {
    context.out << text << '\n';
  }
  if (!simulated.folding.empty()) context.out << simulated.folding << '\n';
  context.out << simulation::trust_in(wished) << '\n';
  context.out << fmt::format("Numbers were not computed: ./shardlings run {:02} checks them.\n",
                             simulation.puzzle.number);
  return kPassed;
}

/// It would take as long with other numbers, too.
bool is_endless(const wire::Result& result) {
  const auto& failure = result.report.failure;
  return result.ending == wire::Ending::cpu_limit || result.ending == wire::Ending::wall_limit ||
         result.ending == wire::Ending::output_limit || (failure && failure->kind == front::FailureKind::endless_loop);
}

/// A layout that does not fit is run all the same, on devices with enough memory: how much it would need is of
/// interest.
simulation::SweepResult swept(const Simulation& simulation, const simulation::SweepPoint& point) {
  simulation::SweepResult of;
  if (!point.refusal.empty()) return of;
  cases::Case kase = point.kase;
  kase.capacity = simulation::kUnlimited;
  const Simulated simulated = simulation.run(kase);
  const wire::Result& result = simulated.result;
  of.folding = simulated.folding;
  of.finished = result.ending == wire::Ending::finished;
  of.endless = is_endless(result);
  of.ending =
      report::harmless_line(result.explanation.substr(0, result.explanation.find('\n')), simulation.context.charset);
  if (!of.finished) return of;
  for (const front::RankReport& rank : result.report.ranks) {
    of.end = std::max(of.end, rank.counters.end);
    of.peak = std::max(of.peak, rank.counters.peak);
    of.sent = std::max(of.sent, rank.counters.bytes_sent());
  }
  of.fits = of.peak <= point.kase.capacity;
  return of;
}

/// What all points of a sweep have in common is told by one that there can be: points_of() has seen that there is one.
const cases::Case& a_possible_case(const std::vector<simulation::SweepPoint>& points) {
  const auto is_possible = [](const simulation::SweepPoint& point) { return point.refusal.empty(); };
  return std::find_if(points.begin(), points.end(), is_possible)->kase;
}

/// "folded: …" or "not folded: …", once for all points of which it is said, with the first of them.
std::vector<std::string> folding_lines(const std::vector<simulation::SweepVariable>& variables,
                                       const std::vector<simulation::SweepPoint>& points,
                                       const std::vector<simulation::SweepResult>& results) {
  std::vector<std::string> texts, lines;
  std::vector<std::size_t> first, counts;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].folding.empty()) continue;
    const auto known = std::find(texts.begin(), texts.end(), results[i].folding);
    if (known == texts.end()) {
      texts.push_back(results[i].folding);
      first.push_back(i);
      counts.push_back(1);
    } else {
      ++counts[static_cast<std::size_t>(known - texts.begin())];
    }
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string where = report::combination_text(variables, points[first[i]].values);
    if (counts[i] > 1) where += fmt::format(" and {} more", counts[i] - 1);
    lines.push_back(fmt::format("{}: {}", where, texts[i]));
  }
  return lines;
}

void print_sweep(const Simulation& simulation, const std::vector<simulation::SweepVariable>& variables,
                 const std::vector<simulation::SweepPoint>& points, const std::vector<simulation::SweepResult>& results,
                 int fastest) {
  const Context& context = simulation.context;
  if (simulation.options.json) {
    context.out << report::sweep_json(variables, points, results) << '\n';
    return;
  }
  const cases::Case& first = a_possible_case(points);
  context.out << fmt::format("{}, {}: time of a step\n", system::shown_path(simulation.path), execution_of(first));
  const report::Style style(context.colour, context.charset);
  for (const std::string& text : report::sweep_lines(variables, points, results, fastest, style)) {
    context.out << text << '\n';
  }
  for (const std::string& text : folding_lines(variables, points, results)) context.out << text << '\n';
}

/// JSON stands alone on the standard output, so what is said of the page goes to the other one.
void write_page(const Simulation& simulation, const std::vector<simulation::SweepVariable>& variables,
                const std::vector<simulation::SweepPoint>& points, const std::vector<simulation::SweepResult>& results,
                int fastest) {
  if (simulation.options.page.empty()) return;
  const Context& context = simulation.context;
  const cases::Case& first = a_possible_case(points);
  const Context speaking{context.project, simulation.options.json ? context.err : context.out, context.err};
  const std::string title =
      fmt::format("{} {}: a sweep", learner::short_name(simulation.puzzle), simulation.puzzle.title);
  const std::string subtitle =
      fmt::format("{}, {}, {}", system::shown_path(simulation.path), first.cluster.name, execution_of(first));
  learner::deliver(speaking, simulation.options.page,
                   report::sweep_page({title, subtitle, &variables, &points, &results, fastest}), "Page of the sweep");
}

int simulate_many(const Simulation& simulation, terminal::ProgressLine& line) {
  std::vector<simulation::SweepVariable> variables;
  std::vector<simulation::SweepPoint> points;
  try {
    variables = simulation::parse_sweep(simulation.options.sweep);
    points = simulation::points_of(simulation.puzzle, simulation.options.wish, variables, files_of(simulation.context));
  } catch (const std::exception& error) {
    throw UsageError(error.what());
  }
  std::vector<simulation::SweepResult> results;
  for (const simulation::SweepPoint& point : points) {
    line.show(fmt::format("simulating: {} of {}", results.size() + 1, points.size()));
    const auto endless = std::count_if(results.begin(), results.end(), [](const auto& one) { return one.endless; });
    if (endless < 2) {
      results.push_back(swept(simulation, point));
    } else {
      results.emplace_back().ending = "it was not run: two before it did not come to an end";
    }
  }
  line.end();
  const int fastest = simulation::mark_frontier(results);
  // A page on the standard output stands alone there.
  if (simulation.options.page != "-") print_sweep(simulation, variables, points, results, fastest);
  write_page(simulation, variables, points, results, fastest);
  const bool any = std::any_of(results.begin(), results.end(), [](const auto& result) { return result.finished; });
  return any ? kPassed : kFailed;
}

}  // namespace

int simulate(const Context& context, const SimulateOptions& options) {
  if (!options.page.empty() && options.sweep.empty()) {
    throw UsageError("--page is for a sweep; the page of one run: --export FILE, then ./shardlings view --run FILE");
  }
  if (options.json && options.page == "-") {
    throw UsageError("--json and --page - both want the standard output; give the page a file");
  }
  const learner::Course course = learner::load_course(context.project);
  const cases::Manifest& puzzle =
      learner::named_or_next(course, options.puzzle, learner::load_progress(context.project.state()));
  learner::refuse_question(puzzle, "simulate");
  const bool has_solution = std::filesystem::exists(context.project.solution_file(puzzle.id));
  if (options.solution && (context.project.is_handout || !has_solution)) {
    throw UsageError(
        "--solution: solutions are your course's to give, and this repository has none. Leave it out, and your own "
        "file "
        "is taken.");
  }
  const std::string own =
      options.solution ? context.project.solution_file(puzzle.id) : context.project.puzzle_file(puzzle.id);
  std::string file = options.file.empty() ? own : options.file;
  if (!options.mutant.empty()) {
    file = author::write_variant_named(context.project, puzzle, author::VariantKind::mutant, options.mutant);
  }
  Simulation simulation{context, options, puzzle, std::filesystem::absolute(file).string()};
  terminal::ProgressLine line(context);
  if (!is_built(simulation, line)) return kFailed;
  return options.sweep.empty() ? simulate_one(simulation, line) : simulate_many(simulation, line);
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
  verb.text("--precision", options.wish.precision, "f32, mixed (16 bits), or mixed-f32-grads (gradients have 32)");
  verb.text("--recompute", options.wish.recompute, "full or selective: what backward of a block computes again");
  verb.text("--stack", options.wish.stack, "whose software: ours, megatron-2021, megatron-2022, torch-flash");
  verb.flag("--no-sequence-parallel", options.wish.no_sequence_parallel,
            "with --stack: activations are whole on every rank");
  verb.flag("--ideal", options.wish.ideal, "the makers' peak speeds, even where slower ones were measured");
  verb.number("--micro-batches", options.wish.micro_batches, "of each rank", kAny);
  verb.number("--batch", options.wish.batch, "sequences of a micro-batch", kAny);
  verb.number("--global-batch", options.wish.global_batch, "sequences of a step over all replicas", kAny);
  verb.text("--sweep", options.sweep,
            "many sizes, each twice the one before: tp=1..8,pp=1..8, or numbers in equal steps: bucket=100:2000");
  verb.text("--page", options.page, kPageMeaning);
  verb.text("--svg", options.pictures.svg, "write the timeline of some ranks, - for standard output");
  verb.text("--trace", options.pictures.trace, "write their trace for the Perfetto viewer");
  verb.text("--export", options.pictures.to_file, "write the run itself, for view --run FILE");
  verb.text("--ranks-shown", options.pictures.ranks, "whose, as in 0,8,16-19; without it: a pipeline's");
  verb.flag("--json", options.json, "print what came of it as JSON");
  verb.flag("--fold", options.wish.fold, "of equal replicas run some, which stand for the others");
  verb.flag("--unlimited", options.wish.unlimited, "let the devices have as much memory as is asked for");
  verb.each("--set", options.wish.set, "NAME=NUMBER",
            "another value for a number of the case: bucket=300, micro_batches=8, latency_ns=0");
  verb.text("--case", options.wish.base, "the case that all else is taken from; without it: the first");
  verb.text("--file", options.file, "another file as that puzzle");
  verb.flag("--solution", options.solution, "the puzzle's solution in place of your file");
  verb.excludes("--solution", "--file");
  verb.text("--mutant", options.mutant, "for authors: simulate the wrong solution of that name");
  verb.excludes("--mutant", "--file");
  verb.excludes("--mutant", "--solution");
}

}  // namespace shardlings::cli::verbs

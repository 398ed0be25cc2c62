#include <filesystem>
#include <optional>
#include <ostream>
#include <stdexcept>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/error.h"
#include "cli/learner/last_run.h"
#include "cli/system/program.h"
#include "cli/verbs/verbs.h"
#include "cli/verbs/view.h"
#include "grading/verdict/kept_runs.h"
#include "grading/verdict/run_file.h"
#include "report/measured.h"
#include "report/svg.h"
#include "report/view/page.h"

namespace shardlings::cli::verbs {

namespace fs = std::filesystem;
using cases::Manifest;
using grading::verdict::KeptRun;
using grading::verdict::Verdict;

namespace {

std::string full_name(const Manifest& puzzle) {
  return learner::short_name(puzzle) + " " + puzzle.title;
}

Verdict read_run(const Context& context, const std::string& path) {
  const auto text = read_file(path);
  if (!text) throw UsageError("There is no file " + path + ".");
  try {
    return grading::verdict::run_from_text(*text, context.project.clusters());
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("{}: {}. A run is written by ./shardlings view --export FILE.", path, error.what()));
  }
}

/// The runs that a page is made of, and what holds them.
struct Runs {
  Verdict run, goal, other;
  std::optional<Verdict> measured;
  report::ViewPage page;
};

/// The run itself: of a file or the last one, even if it did not build.
void add_own_run(const Context& context, const Manifest& puzzle, const std::string& file, Runs& runs) {
  if (!file.empty()) {
    runs.run = read_run(context, file);
  } else if (auto kept = grading::verdict::load_run(context.project.build, puzzle.id, KeptRun::last)) {
    runs.run = std::move(*kept);
  } else {
    throw UsageError(fmt::format("{} has not been run yet. First: ./shardlings run {}", full_name(puzzle),
                                 learner::short_name(puzzle)));
  }
  const std::string name = file.empty() ? "Your last run" : fs::path(file).filename().string();
  const std::string source =
      file.empty() ? grading::verdict::source_of_run(context.project.build, puzzle.id, KeptRun::last) : "";
  runs.page.runs.push_back({report::ViewRole::run, name, &runs.run, source});
}

void add_goal_run(const Context& context, const Manifest& puzzle, Runs& runs) {
  const std::string path = context.project.goal_file(puzzle.id);
  if (!fs::exists(path)) return;
  try {
    runs.goal = read_run(context, path);
    runs.page.runs.push_back({report::ViewRole::goal, "Goal", &runs.goal});
  } catch (const UsageError& error) {
    context.err << "The goal is left out. " << error.what() << '\n';
  }
}

/// What the same run really took, on backends that measure.
void add_measured_run(Runs& runs) {
  runs.measured = report::measured_run(runs.run);
  if (runs.measured) runs.page.runs.push_back({report::ViewRole::measured, "Measured times", &*runs.measured});
}

void add_other_run(const Context& context, const Manifest& puzzle, const std::string& against, Runs& runs) {
  if (against == "LAST") {
    auto kept = grading::verdict::load_run(context.project.build, puzzle.id, KeptRun::previous);
    if (!kept) throw UsageError(full_name(puzzle) + " was run only once yet: there is nothing to compare with.");
    runs.other = std::move(*kept);
    runs.page.runs.push_back({report::ViewRole::other, "The run before", &runs.other});
    return;
  }
  runs.other = read_run(context, against);
  if (runs.other.puzzle != puzzle.id) {
    throw UsageError(fmt::format("{} is a run of {}, not of {}.", against, runs.other.puzzle, puzzle.id));
  }
  runs.page.runs.push_back({report::ViewRole::other, fs::path(against).filename().string(), &runs.other});
}

/// The puzzle that is meant; a run file knows its own.
const Manifest& chosen_puzzle(const Context& context, const learner::Course& course, const ViewOptions& options) {
  if (options.run.empty()) return learner::named_or_last_run(context, course, options.puzzle);
  const Manifest& puzzle = course.find(read_run(context, options.run).puzzle);
  if (options.puzzle.empty() || course.find(options.puzzle).id == puzzle.id) return puzzle;
  throw UsageError(fmt::format("{} is a run of {}.", options.run, puzzle.id));
}

void write_svg(const Context& context, const Manifest& puzzle, const ViewOptions& options) {
  const Verdict run = options.run.empty() ? learner::last_run(context, puzzle) : read_run(context, options.run);
  const grading::verdict::CaseVerdict& kase = learner::chosen_case(run, options.case_name);
  const std::string title = fmt::format("{}: {}", full_name(puzzle), kase.kase.name);
  learner::deliver(context, options.svg, report::timeline_svg(kase, title, !options.no_figures),
                   fmt::format("Picture of \"{}\"", kase.kase.name));
}

void open_in_browser(const Context& context, const std::string& path) {
  if (system::run_program({"xdg-open", fs::absolute(path).string()}) == 0) return;
  context.err << "It could not be opened (is xdg-open there?): please open it in a browser yourself.\n";
}

/// The page of the run that is there, with what may stand beside it.
std::string page_of(const Context& context, const Manifest& puzzle, const ViewOptions& options, Runs& runs) {
  runs.page.puzzle = full_name(puzzle);
  if (!options.case_name.empty()) runs.page.show = learner::chosen_case(runs.run, options.case_name).kase.name;
  add_measured_run(runs);
  add_goal_run(context, puzzle, runs);
  if (!options.against.empty()) add_other_run(context, puzzle, options.against, runs);
  return report::view_page(runs.page);
}

void write_page(const Context& context, const Manifest& puzzle, const ViewOptions& options, Runs& runs) {
  const std::string page = page_of(context, puzzle, options, runs);
  std::string path = options.out;
  if (path.empty()) {
    const std::string folder = context.project.build + "/view";
    fs::create_directories(folder);
    path = system::shown_path(fmt::format("{}/{}.html", folder, puzzle.id));
  }
  learner::deliver(context, path, page, "Page of " + full_name(puzzle));
  if (options.open) open_in_browser(context, path);
}

}  // namespace

std::string page_of_last_run(const Context& context, const Manifest& puzzle) {
  Runs runs;
  add_own_run(context, puzzle, "", runs);
  return page_of(context, puzzle, {}, runs);
}

int view(const Context& context, const ViewOptions& options) {
  const learner::Course course = learner::load_course(context.project);
  const Manifest& puzzle = chosen_puzzle(context, course, options);
  if (options.to_file.empty()) learner::refuse_question(puzzle, "draw");
  if (!options.svg.empty()) {
    write_svg(context, puzzle, options);
    return kPassed;
  }
  Runs runs;
  add_own_run(context, puzzle, options.run, runs);
  if (!options.to_file.empty()) {
    learner::deliver(context, options.to_file, grading::verdict::run_to_text(runs.run), "Run of " + full_name(puzzle));
    return kPassed;
  }
  write_page(context, puzzle, options, runs);
  return kPassed;
}

void add_view(CommandLine& line) {
  auto [options, verb] = line.verb<ViewOptions>("view", "the last run as a page for the browser", view);
  verb.positional("PUZZLE", options.puzzle, kLastPuzzleMeaning);
  verb.text("--case", options.case_name, "the case to begin with, instead of the one that the report shows");
  verb.text("--against", options.against, "beside it: LAST, the run before, or a file that --export wrote");
  verb.text("--run", options.run, "show a file that --export wrote instead of the last run");
  verb.text("--out", options.out, "file to write, - for standard output; without it: build/view/<id>.html");
  verb.text("--svg", options.svg, "write the timeline as a picture instead, - for standard output");
  verb.flag("--no-figures", options.no_figures, "that picture without its end, peak and bytes, as lessons show it");
  verb.text("--export", options.to_file, "write the run itself instead, to be compared with or shown elsewhere");
  verb.flag("--open", options.open, "open the page in the browser");
}

}  // namespace shardlings::cli::verbs

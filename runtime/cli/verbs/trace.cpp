#include <ostream>

#include <fmt/format.h>

#include "cli/error.h"
#include "cli/learner/last_run.h"
#include "cli/terminal/progress_line.h"
#include "cli/verbs/verbs.h"
#include "report/perfetto.h"

namespace shardlings::cli::verbs {

namespace {

struct TraceOptions {
  std::string puzzle;
  std::string case_name;  ///< empty: the one that the report shows
  std::string out;        ///< file; "-": standard output; empty: trace_<id>.json
};

}  // namespace

/// `trace`: the last run for the Perfetto viewer.
static int trace(const Context& context, const TraceOptions& options) {
  const learner::Course course = learner::load_course(context.project);
  const cases::Manifest& puzzle = learner::named_or_last_run(context, course, options.puzzle);
  learner::refuse_question(puzzle, "trace");
  const grading::verdict::Verdict run = learner::last_run(context, puzzle);
  const grading::verdict::CaseVerdict& kase = learner::chosen_case(run, options.case_name);
  const std::string file = options.out.empty() ? fmt::format("trace_{}.json", puzzle.id) : options.out;
  terminal::ProgressLine line(context);
  line.show("writing the trace");
  const std::string text = report::perfetto_trace(kase);
  line.end();
  learner::deliver(context, file, text, fmt::format("Trace of \"{}\"", kase.kase.name));
  if (file != "-") context.out << "Open it at https://ui.perfetto.dev, or in chrome://tracing.\n";
  return kPassed;
}

void add_trace(CommandLine& line) {
  auto [options, verb] = line.verb<TraceOptions>("trace", "the last run, for the Perfetto viewer", trace);
  verb.positional("PUZZLE", options.puzzle, kLastPuzzleMeaning);
  verb.text("--case", options.case_name, "another case than the one that the report shows");
  verb.text("--out", options.out, "file to write, - for standard output; without it: trace_<id>.json");
}

}  // namespace shardlings::cli::verbs

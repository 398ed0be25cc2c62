#include <ostream>

#include <fmt/format.h>

#include "cli/error.h"
#include "cli/last_run.h"
#include "cli/progress_line.h"
#include "cli/verbs.h"
#include "report/perfetto.h"

namespace shardlings::cli {

int trace(const Context& context, const TraceOptions& options) {
  const Course course = load_course(context.project);
  const grading::Manifest& puzzle = named_or_last_run(context, course, options.puzzle);
  const grading::Verdict run = last_run(context, puzzle);
  const grading::CaseVerdict& kase = chosen_case(run, options.case_name);
  const std::string file = options.out.empty() ? fmt::format("trace_{}.json", puzzle.id) : options.out;
  ProgressLine line(context);
  line.show("writing the trace");
  const std::string text = report::perfetto_trace(kase);
  line.end();
  deliver(context, file, text, fmt::format("Trace of \"{}\"", kase.kase.name));
  if (file != "-") context.out << "Open it at https://ui.perfetto.dev, or in chrome://tracing.\n";
  return kPassed;
}

}  // namespace shardlings::cli

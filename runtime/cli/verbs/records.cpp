#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/terminal_text.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/learner/outcome.h"
#include "cli/verbs/verbs.h"
#include "report/harmless.h"

namespace shardlings::cli::verbs {

using cases::Manifest;
using learner::CaseRecord;
using learner::PuzzleProgress;
using nlohmann::ordered_json;

namespace {

struct RecordsOptions {
  std::vector<std::string> puzzles;  ///< empty: all
  bool all = false;                  ///< also of cases that are not open
  bool json = false;
};

bool is_open(const PuzzleProgress& past, const std::string& name) {
  return past.records.contains(name);
}

double bubble_of(const CaseRecord& best) {
  return static_cast<double>(best.idle_ppm) / 1e6;
}

/// What the file of progress says and cannot be, or was of a case that is another one now, is no record.
PuzzleProgress with_what_holds(const Context& context, const Manifest& puzzle, PuzzleProgress past) {
  std::erase_if(past.bests, [&](const auto& one) {
    const auto& [name, best] = one;
    if (learner::still_holds(best, puzzle, name)) return false;
    context.err << report::harmless_line(
                       fmt::format(
                           "left out: {:02} \"{}\": the case has changed since, or no run can end so early. A run "
                           "that passes makes a new record.",
                           puzzle.number, name),
                       context.charset)
                << '\n';
    return true;
  });
  return past;
}

ordered_json to_json(const Manifest& puzzle, const PuzzleProgress& past) {
  ordered_json cases = ordered_json::array();
  for (const auto& [name, best] : past.bests) {
    cases.push_back({{"case", name},
                     {"open", is_open(past, name)},
                     {"end_ns", best.end_ns},
                     {"peak_bytes", best.peak_bytes},
                     {"sent_bytes", best.sent_bytes},
                     {"bubble", bubble_of(best)},
                     {"bound_ns", best.bound_ns},
                     {"file", best.file}});
  }
  return {{"puzzle", puzzle.id}, {"cases", cases}};
}

/// Empty if there is nothing to show.
std::string table_of(const Manifest& puzzle, const PuzzleProgress& past, bool all) {
  std::string text;
  for (const auto& [name, best] : past.bests) {
    if (!all && !is_open(past, name)) continue;
    text +=
        fmt::format("  {} end {}, peak {}, sent {}, bubble {:.1f}%\n", padded(name, 30), to_text(Nanos(best.end_ns)),
                    to_text(Bytes(best.peak_bytes)), to_text(Bytes(best.sent_bytes)), 100 * bubble_of(best));
  }
  return text.empty() ? text : fmt::format("{:02} {}\n{}", puzzle.number, puzzle.title, text);
}

}  // namespace

/// `records`: the best numbers of runs that passed.
static int records(const Context& context, const RecordsOptions& options) {
  const learner::Course course = learner::load_course(context.project);
  const learner::Progress progress = learner::load_progress(context.project.state());
  ordered_json list = ordered_json::array();
  std::string text;
  for (const Manifest& puzzle : learner::puzzles_named(course, options.puzzles)) {
    const PuzzleProgress past = with_what_holds(context, puzzle, progress.of(puzzle.id));
    if (!past.bests.empty()) list.push_back(to_json(puzzle, past));
    text += table_of(puzzle, past, options.all || !options.puzzles.empty());
  }
  if (options.json) {
    context.out << ordered_json{{"version", version()}, {"records", list}}.dump(2) << '\n';
    return kPassed;
  }
  if (!text.empty()) {
    context.out << "Your best, each number by itself. Counters are the same on every machine.\n" << text;
    return kPassed;
  }
  context.out << context.wrapped(options.all || !options.puzzles.empty()
                                     ? "There are none yet: records are of runs that passed."
                                     : "There are none yet. Records are of runs that passed, on cases that are open: "
                                       "their budget can be met in many "
                                       "ways, as in 23. Those of all other cases: ./shardlings records --all");
  return kPassed;
}

void add_records(CommandLine& line) {
  auto [options, verb] = line.verb<RecordsOptions>(
      "records", "your best numbers: earliest end, least memory and bytes, smallest bubble", records);
  verb.positional("PUZZLE", options.puzzles, "number, id or a part of the name; without one: all");
  verb.flag("--all", options.all, "also of cases whose budgets leave nothing open");
  verb.flag("--json", options.json, kJsonMeaning);
}

}  // namespace shardlings::cli::verbs

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/error.h"
#include "cli/verbs/simulate.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

namespace {

struct SweepOptions {
  std::string puzzle;
  std::vector<std::string> ranges;  ///< "bucket=100:2000"
  SimulateOptions simulate;
};

}  // namespace

/// `sweep`: a case with many values for one of its numbers, or for two.
static int sweep(const Context& context, const SweepOptions& options) {
  SimulateOptions many = options.simulate;
  std::vector<std::string> ranges = options.ranges;
  many.puzzle = options.puzzle;
  if (options.puzzle.find('=') != std::string::npos) {  // no puzzle is named
    ranges.insert(ranges.begin(), options.puzzle);
    many.puzzle.clear();
  }
  if (ranges.empty()) {
    throw UsageError("A sweep needs a number of the case and its range: ./shardlings sweep 10 bucket=100:2000");
  }
  many.sweep = fmt::format("{}", fmt::join(ranges, ","));
  return simulate(context, many);
}

void add_sweep(CommandLine& line) {
  auto [options, verb] =
      line.verb<SweepOptions>("sweep", "play with a number of a case: time, peak and bytes as a plot", sweep);
  verb.positional("PUZZLE", options.puzzle, kPuzzleMeaning);
  verb.positional("RANGE", options.ranges, "bucket=100:2000 in equal steps, bucket=100..1600 doubling");
  verb.text("--case", options.simulate.wish.base, "the case that all else is taken from; without it: the first");
  verb.each("--set", options.simulate.wish.set, "NAME=NUMBER", "another value for a number of the case: latency_ns=0");
  verb.text("--file", options.simulate.file, "another file as that puzzle");
  verb.flag("--solution", options.simulate.solution, "the puzzle's solution in place of your file");
  verb.excludes("--solution", "--file");
  verb.text("--page", options.simulate.page, kPageMeaning);
  verb.flag("--json", options.simulate.json, kJsonMeaning);
}

}  // namespace shardlings::cli::verbs

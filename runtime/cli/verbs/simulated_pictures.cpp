#include "cli/verbs/simulated_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/error.h"
#include "cli/learner/last_run.h"
#include "grading/verdict/run_file.h"
#include "report/perfetto.h"
#include "report/svg.h"

namespace shardlings::cli::verbs {

namespace {

/// Of each rank some hundred bytes for every operation: of all ranks of a large simulation there would be gigabytes.
constexpr std::size_t kMostShown = 64;

int rank_in(std::string_view text, const cases::Case& kase) {
  int rank = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || rank < 0 || rank >= kase.ranks) {
    throw UsageError(fmt::format("--ranks-shown takes numbers of ranks from 0 to {}, as in 0,8,16-19, not '{}'",
                                 kase.ranks - 1, text));
  }
  return rank;
}

/// Those of the first replica that are as far from one another as can be: the stages of a pipeline, if there is one.
std::vector<int> usual_ranks(const cases::Case& kase) {
  constexpr int kShown = 8;
  const int replica = kase.ranks / kase.num_batches();
  const int among = replica > 1 ? replica : kase.ranks, shown = std::min(kShown, among);
  std::vector<int> ranks;
  for (int i = 0; i < shown; ++i) ranks.push_back(i * among / shown);
  return ranks;
}

grading::verdict::CaseVerdict verdict_of(const cases::Case& kase, const wire::Result& result) {
  grading::verdict::CaseVerdict of;
  of.kase = kase;
  of.ending = result.ending;
  of.seconds = result.seconds;
  for (const front::RankReport& rank : result.report.ranks) {
    of.counters.push_back(rank.counters);
    of.traces.push_back(rank.trace);
  }
  return of;
}

}  // namespace

std::vector<int> ranks_shown(const PictureOptions& options, const cases::Case& kase) {
  if (options.ranks.empty()) return usual_ranks(kase);
  std::vector<int> ranks;
  const std::string_view all = options.ranks;
  for (std::size_t begin = 0; begin <= all.size();) {
    const std::size_t end = std::min(all.find(',', begin), all.size());
    const std::string_view part = all.substr(begin, end - begin);
    const std::size_t dash = std::min(part.find('-'), part.size());
    const int first = rank_in(part.substr(0, dash), kase);
    const int last = dash == part.size() ? first : rank_in(part.substr(dash + 1), kase);
    if (first > last) throw UsageError(fmt::format("--ranks-shown {}: {} comes behind {}", part, first, last));
    for (int rank = first; rank <= last; ++rank) ranks.push_back(rank);
    begin = end + 1;
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (ranks.size() > kMostShown) {
    throw UsageError(fmt::format("--ranks-shown: {} ranks are more than {}", ranks.size(), kMostShown));
  }
  return ranks;
}

void write_pictures(const Context& context, const PictureOptions& options, const cases::Manifest& puzzle,
                    const cases::Case& simulated, const wire::Result& result) {
  if (!options.any()) return;
  grading::verdict::Verdict run;
  run.puzzle = puzzle.id;
  run.backend = "dry";
  cases::Case kase = simulated;
  kase.traced = ranks_shown(options, kase);
  run.cases = {verdict_of(kase, result)};
  const grading::verdict::CaseVerdict& of = run.cases.front();
  if (!options.svg.empty()) {
    const std::string title = fmt::format("{} {}: {}", learner::short_name(puzzle), puzzle.title, kase.name);
    learner::deliver(context, options.svg, report::timeline_svg(of, title), "Picture of the simulation");
  }
  if (!options.trace.empty()) {
    learner::deliver(context, options.trace, report::perfetto_trace(of), "Trace of the simulation");
  }
  if (!options.to_file.empty()) {
    learner::deliver(context, options.to_file, grading::verdict::run_to_text(run), "Run of the simulation");
  }
}

}  // namespace shardlings::cli::verbs

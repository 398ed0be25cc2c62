// Asks the learner's functions about every layout that was simulated, then for a plan, and publishes what they answer.

#include "submission/harness.h"

#include <string>

#include "shardlings/planner.h"
#include "table.h"

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(memory, double(const PlannedJob& job, const Layout& layout));
SHARDLINGS_LEARNER_FUNCTION(seconds, double(const PlannedJob& job, const Layout& layout));
SHARDLINGS_LEARNER_FUNCTION(plan, Layout(const PlannedJob& job));

namespace {

[[noreturn]] void refuse_plan(const std::string& why) {
  submission::Harness::refuse_answer("plan", why);
}

std::string text(std::int64_t number) {
  return std::to_string(number);
}

bool is_in_profile(const PlannedJob& job, const Layout& layout) {
  for (const BlockProfile& row : job.profile) {
    if (row.tp == layout.tp && row.batch == layout.batch && row.recomputed == layout.recomputed) return true;
  }
  return false;
}

/// As the stub says which layouts are possible. What comes from a jail may be any number, so nothing is multiplied
/// before it is known to be small.
void check_possible(const PlannedJob& job, const Layout& layout) {
  if (!is_in_profile(job, layout)) {
    refuse_plan("returns tp = " + text(layout.tp) + ", batch = " + text(layout.batch) +
                ", recomputed = " + text(static_cast<int>(layout.recomputed)) + ": the profile has no such row");
  }
  for (const int size : {layout.pp, layout.chunks, layout.dp}) {
    if (size < 1 || size > job.gpus + job.layers) refuse_plan("returns " + text(size) + " as a size of the layout");
  }
  const std::int64_t ranks = std::int64_t{layout.tp} * layout.pp * layout.dp;
  if (ranks != job.gpus) {
    refuse_plan("returns tp = " + text(layout.tp) + ", pp = " + text(layout.pp) + ", dp = " + text(layout.dp) +
                ", which are " + text(ranks) + " GPUs; there are " + text(job.gpus));
  }
  const std::int64_t chunks = std::int64_t{layout.pp} * layout.chunks;
  if (job.layers % chunks != 0) {
    refuse_plan("returns " + text(chunks) + " chunks, which do not divide " + text(job.layers) + " blocks");
  }
  if (layout.chunks > 4) refuse_plan("returns " + text(layout.chunks) + " chunks on each stage, of at most 4");
  if (job.sequences % (layout.dp * layout.batch) != 0) {
    refuse_plan("returns dp = " + text(layout.dp) + " and batch = " + text(layout.batch) + ", which do not divide " +
                text(job.sequences) + " sequences");
  }
  const Count micro_batches = job.sequences / (layout.dp * layout.batch);
  if (layout.chunks > 1 && (layout.pp == 1 || micro_batches % layout.pp != 0)) {
    refuse_plan("returns " + text(layout.chunks) + " chunks on each of " + text(layout.pp) + " stages with " +
                text(micro_batches) + " micro-batches, which take turns by multiples of the stages");
  }
}

}  // namespace

SHARDLINGS_HARNESS(h) {
  const PlannedJob job = job_of(h.kase());
  std::vector<double> bytes, times;
  for (const SimulatedLayout& row : simulated(h.kase())) {
    bytes.push_back(memory(job, row.layout));
    times.push_back(seconds(job, row.layout));
  }
  h.answer("memory", bytes);
  h.answer("seconds", times);
  const Layout chosen = plan(job);
  check_possible(job, chosen);
  h.answer("plan",
           {static_cast<double>(chosen.tp), static_cast<double>(chosen.pp), static_cast<double>(chosen.chunks),
            static_cast<double>(chosen.dp), static_cast<double>(chosen.batch), static_cast<double>(chosen.recomputed)});
}

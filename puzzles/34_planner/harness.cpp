// Asks the learner's functions about every layout that was simulated, then for a plan, and publishes what they answer.

#include "submission/harness.h"

#include <vector>

#include "possible.h"
#include "shardlings/planner.h"
#include "table.h"

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(memory, double(const PlannedJob& job, const Layout& layout));
SHARDLINGS_LEARNER_FUNCTION(seconds, double(const PlannedJob& job, const Layout& layout));
SHARDLINGS_LEARNER_FUNCTION(plan, Layout(const PlannedJob& job));

namespace {

/// Asks a function; false if it is not implemented yet. The others are judged all the same.
template <class Asks>
bool answers(const Asks& asks) {
  try {
    asks();
    return true;
  } catch (const NotImplemented&) {
    return false;
  }
}

/// Any layout is published: whether it is possible is for the checks of the plan to say. Of one that is, what the
/// learner's functions say tells whether the plan follows from them.
void publish(submission::Harness& h, const Layout& of, const PlannedJob& job) {
  h.answer("plan", {static_cast<double>(of.tp), static_cast<double>(of.pp), static_cast<double>(of.chunks),
                    static_cast<double>(of.dp), static_cast<double>(of.batch), static_cast<double>(of.recomputed)});
  if (!planning::broken_rule(job, of).empty()) return;
  answers([&] { h.answer("memory of the plan", memory(job, of)); });
  answers([&] { h.answer("seconds of the plan", seconds(job, of)); });
}

}  // namespace

SHARDLINGS_HARNESS(h) {
  const PlannedJob job = job_of(h.kase());
  const auto ask = [&](const char* name, const auto& function) {
    std::vector<double> of;
    for (const SimulatedLayout& row : simulated(h.kase())) of.push_back(function(job, row.layout));
    h.answer(name, of);
  };
  bool any = answers([&] { ask("memory", memory); });
  any = answers([&] { ask("seconds", seconds); }) || any;
  any = answers([&] { publish(h, plan(job), job); }) || any;
  if (!any) plan(job);  // says where the hole is
}

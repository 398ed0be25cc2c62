// Asks the learner's functions about every run of the case's table, and publishes what they answer.

#include "submission/harness.h"

#include <vector>

#include "shardlings/scaling.h"
#include "table.h"

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(scaled, Scaling(const MeasuredRun& base, const MeasuredRun& run));
SHARDLINGS_LEARNER_FUNCTION(utilization, Utilization(const TrainingJob& job, const MeasuredRun& run));
SHARDLINGS_LEARNER_FUNCTION(critical_batch, double(const GradientNorms& norms));
SHARDLINGS_LEARNER_FUNCTION(learning_rate, double(double tuned, Count tuned_at, double critical, Count batch));
SHARDLINGS_LEARNER_FUNCTION(cost, TrainingCost(const TrainingJob& job, double critical, const MeasuredRun& run));
SHARDLINGS_LEARNER_FUNCTION(choose, int(const TrainingJob& job, double critical, const std::vector<MeasuredRun>& runs));

namespace {

using Runs = std::vector<MeasuredRun>;

void ask_scaled(submission::Harness& h, const Runs& runs) {
  std::vector<double> speed_up, efficiency;
  for (const MeasuredRun& run : runs) {
    const Scaling beside = scaled(runs.front(), run);
    speed_up.push_back(beside.speed_up);
    efficiency.push_back(beside.efficiency);
  }
  h.answer("speed-up", speed_up);
  h.answer("efficiency", efficiency);
}

void ask_utilization(submission::Harness& h, const TrainingJob& job, const Runs& runs) {
  std::vector<double> model, hardware;
  for (const MeasuredRun& run : runs) {
    const Utilization used = utilization(job, run);
    model.push_back(used.model);
    hardware.push_back(used.hardware);
  }
  h.answer("MFU", model);
  h.answer("HFU", hardware);
}

void ask_rate(submission::Harness& h, double critical, const Runs& runs) {
  std::vector<double> rate;
  for (const MeasuredRun& run : runs) {
    rate.push_back(learning_rate(kTunedRate, runs.front().sequences, critical, run.sequences));
  }
  h.answer("rate", rate);
}

void ask_cost(submission::Harness& h, const TrainingJob& job, double critical, const Runs& runs) {
  std::vector<double> steps, days, gpu_hours, dollars;
  for (const MeasuredRun& run : runs) {
    const TrainingCost of = cost(job, critical, run);
    steps.push_back(of.steps);
    days.push_back(of.days);
    gpu_hours.push_back(of.gpu_hours);
    dollars.push_back(of.dollars);
  }
  h.answer("steps", steps);
  h.answer("days", days);
  h.answer("GPU-hours", gpu_hours);
  h.answer("dollars", dollars);
}

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

}  // namespace

SHARDLINGS_HARNESS(h) {
  const TrainingJob job = job_of(h.kase());
  const Runs runs = runs_of(h.kase());
  bool any = answers([&] { ask_scaled(h, runs); });
  any = answers([&] { ask_utilization(h, job, runs); }) || any;
  double critical = 0;
  if (answers([&] { critical = critical_batch(norms_of(h.kase())); })) {
    any = true;
    h.answer("critical", critical);
    answers([&] { ask_rate(h, critical, runs); });
    answers([&] { ask_cost(h, job, critical, runs); });
    // Any number is published: whether there is such a run is for the check of the decision to say.
    answers([&] { h.answer("chosen", choose(job, critical, runs)); });
  }
  if (!any) scaled(runs.front(), runs.front());  // says where the hole is
}

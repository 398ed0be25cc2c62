// Asks the learner's functions about every run of the case's table, and publishes what they answer.

#include "submission/harness.h"

#include <string>

#include "shardlings/scaling.h"
#include "table.h"

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(scaled, Scaled(const MeasuredRun& base, const MeasuredRun& run));
SHARDLINGS_LEARNER_FUNCTION(utilization, Utilization(const TrainingJob& job, const MeasuredRun& run));
SHARDLINGS_LEARNER_FUNCTION(critical_batch, double(const GradientNorms& norms));
SHARDLINGS_LEARNER_FUNCTION(learning_rate, double(double tuned, Count tuned_at, double critical, Count batch));
SHARDLINGS_LEARNER_FUNCTION(cost, TrainingCost(const TrainingJob& job, double critical, const MeasuredRun& run));
SHARDLINGS_LEARNER_FUNCTION(choose, int(const TrainingJob& job, double critical, const std::vector<MeasuredRun>& runs));

SHARDLINGS_HARNESS(h) {
  const TrainingJob job = job_of(h.kase());
  const std::vector<MeasuredRun> runs = runs_of(h.kase());
  const double critical = critical_batch(norms_of(h.kase()));
  h.answer("critical", critical);
  std::vector<double> speed_up, efficiency, model, hardware, rate, steps, days, gpu_hours, dollars;
  for (const MeasuredRun& run : runs) {
    const Scaled beside = scaled(runs.front(), run);
    speed_up.push_back(beside.speed_up);
    efficiency.push_back(beside.efficiency);
    const Utilization used = utilization(job, run);
    model.push_back(used.model);
    hardware.push_back(used.hardware);
    rate.push_back(learning_rate(kTunedRate, runs.front().sequences, critical, run.sequences));
    const TrainingCost of = cost(job, critical, run);
    steps.push_back(of.steps);
    days.push_back(of.days);
    gpu_hours.push_back(of.gpu_hours);
    dollars.push_back(of.dollars);
  }
  h.answer("speed-up", speed_up);
  h.answer("efficiency", efficiency);
  h.answer("MFU", model);
  h.answer("HFU", hardware);
  h.answer("rate", rate);
  h.answer("steps", steps);
  h.answer("days", days);
  h.answer("GPU-hours", gpu_hours);
  h.answer("dollars", dollars);
  const int chosen = choose(job, critical, runs);
  if (chosen < 0 || chosen >= static_cast<int>(runs.size())) {
    submission::Harness::refuse_answer(
        "choose", "returns run " + std::to_string(chosen) + "; runs are 0 to " + std::to_string(runs.size() - 1));
  }
  h.answer("chosen", chosen);
}

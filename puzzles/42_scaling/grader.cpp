// Judges the accounts of a table of runs: scaling, utilisation, batch, costs, and the decision.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "accounts.h"
#include "grading/judge/predictions.h"
#include "table.h"

using namespace shardlings;
using namespace shardlings::grader;

namespace {

constexpr double kPercent = 2, kPercentOfDecision = 5;

std::string name_of(const MeasuredRun& run) {
  return fmt::format("{} GPUs, {} sequences", run.gpus, run.sequences);
}

/// A number of each run, as it should be, or as a mistake makes it.
using OfRun = std::function<double(const MeasuredRun& run)>;

/// Something of that name was answered: the harness leaves out what is not implemented yet.
bool is_implemented(CheckContext& check, const std::string& name, const std::string& function) {
  if (!check.answers(name).empty()) return true;
  check.fail("an answer of " + function, function + " is not implemented yet, or takes the answer of one that is not");
  check.diagnose("not_implemented");
  return false;
}

/// The answers of that name are right for every run.
bool each_within(CheckContext& check, const std::string& name, const OfRun& right, const std::string& unit,
                 const std::string& formula, double shown = 1) {
  const std::vector<MeasuredRun> runs = runs_of(check.kase());
  const std::vector<double> found = check.answers(name);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const double of_run = i < found.size() ? found[i] : 0;
    if (!check.within(fmt::format("{} of {}", name, name_of(runs[i])), shown * of_run, shown * right(runs[i]), kPercent,
                      unit, formula)) {
      return false;
    }
  }
  return true;
}

bool near(double a, double b) {
  return std::abs(a - b) <= 1e-5 * std::abs(b);
}

/// All answers of that name are what the mistake gives.
bool is_like(const CheckContext& check, const std::string& name, const OfRun& mistaken) {
  const std::vector<MeasuredRun> runs = runs_of(check.kase());
  const std::vector<double> found = check.answers(name);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i >= found.size() || !near(found[i], mistaken(runs[i]))) return false;
  }
  return true;
}

/// A mistake by its id, and the numbers that it gives.
struct Mistake {
  const char* id;
  OfRun gives;
};

/// The first one that explains all answers of that name.
void diagnose_as(CheckContext& check, const std::string& name, const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    if (is_like(check, name, mistake.gives)) return check.diagnose(mistake.id);
  }
}

void diagnose_efficiency(CheckContext& check, const MeasuredRun& base) {
  const auto speed_up = [&](const MeasuredRun& run) { return accounts::scaled(base, run).speed_up; };
  if (is_like(check, "efficiency", speed_up)) return check.diagnose("gpus_not_counted");
  if (is_like(check, "efficiency", [&](const MeasuredRun& run) { return speed_up(run) / run.gpus; })) {
    check.diagnose("base_as_one_gpu");
  }
}

void diagnose_model_utilization(CheckContext& check, const TrainingJob& job) {
  const accounts::Operations of = accounts::operations(job);
  const auto with = [&job](double operations) {
    return [&job, operations](const MeasuredRun& run) { return accounts::share_of_peak(job, run, operations); };
  };
  const auto whole = with(3 * of.forward());
  if (is_like(check, "MFU", with(of.forward()))) return check.diagnose("forward_only");
  if (is_like(check, "MFU", with(2 * of.forward()))) return check.diagnose("backward_as_forward");
  if (is_like(check, "MFU", with(3 * (of.blocks + of.head)))) return check.diagnose("attention_left_out");
  if (is_like(check, "MFU", with(3 * (of.blocks + of.attention)))) return check.diagnose("head_left_out");
  if (is_like(check, "MFU", [&](const MeasuredRun& run) { return whole(run) * run.gpus; })) {
    return check.diagnose("one_gpus_peak");
  }
  if (of.again > 0 && is_like(check, "MFU", with(3 * of.forward() + of.again))) check.diagnose("recomputed_in_model");
}

void diagnose_hardware_utilization(CheckContext& check, const TrainingJob& job) {
  const accounts::Operations of = accounts::operations(job);
  const auto is_of = [&](double operations) {
    return is_like(check, "HFU", [&](const MeasuredRun& run) { return accounts::share_of_peak(job, run, operations); });
  };
  if (of.again > 0 && is_of(3 * of.forward())) return check.diagnose("recompute_not_counted");
  if (job.recomputed != Recomputed::blocks && is_of(3 * of.forward() + of.blocks + of.attention)) {
    return check.diagnose("always_all_blocks");
  }
  if (is_of(4 * of.forward())) check.diagnose("always_all_blocks");
}

void diagnose_critical_batch(CheckContext& check, double found) {
  const GradientNorms norms = norms_of(check.kase());
  const double variance = accounts::variance(norms);
  if (near(found, variance)) return check.diagnose("variance_alone");
  if (near(found, variance / norms.large_square)) return check.diagnose("noise_in_the_signal");
  if (near(found, accounts::true_square(norms) / variance)) return check.diagnose("batch_upside_down");
}

void diagnose_rate(CheckContext& check, const MeasuredRun& base, double critical) {
  const auto times = [&base](const MeasuredRun& run) {
    return static_cast<double>(run.sequences) / static_cast<double>(base.sequences);
  };
  const auto right = [&](const MeasuredRun& run) { return accounts::rate(kTunedRate, base.sequences, critical, run); };
  diagnose_as(check, "rate",
              {{"linear_rate", [&](const MeasuredRun& run) { return kTunedRate * times(run); }},
               {"root_rate", [&](const MeasuredRun& run) { return kTunedRate * std::sqrt(times(run)); }},
               {"rate_upside_down", [&](const MeasuredRun& run) { return kTunedRate * kTunedRate / right(run); }}});
}

void diagnose_steps(CheckContext& check, const TrainingJob& job, double critical) {
  const auto ratio = [&](const MeasuredRun& run) { return static_cast<double>(run.sequences) / critical; };
  diagnose_as(check, "steps",
              {{"steps_without_batch", [&](const MeasuredRun&) { return job.least_steps; }},
               {"same_sequences", [&](const MeasuredRun& run) { return job.least_steps / ratio(run); }},
               {"as_sequences", [&](const MeasuredRun& run) { return job.least_steps * (1 + ratio(run)); }}});
}

/// The run that somebody rents who looks at one thing only.
std::size_t first_by(const std::vector<MeasuredRun>& runs, const OfRun& least) {
  const auto best = std::ranges::min_element(runs, {}, least);
  return static_cast<std::size_t>(best - runs.begin());
}

void diagnose_choice(CheckContext& check, const TrainingJob& job, double critical, std::size_t chosen) {
  const std::vector<MeasuredRun> runs = runs_of(check.kase());
  const auto cost = [&](const MeasuredRun& run) { return accounts::cost(job, critical, run); };
  const auto in_time = [&](const OfRun& least) {
    return [&, least](const MeasuredRun& run) { return cost(run).days <= job.days ? least(run) : HUGE_VAL; };
  };
  const auto explains = [&](const OfRun& least) { return first_by(runs, least) == chosen; };
  if (explains([&](const MeasuredRun& run) { return cost(run).dollars; })) return check.diagnose("deadline_ignored");
  const auto step_price = [](const MeasuredRun& run) { return run.seconds * run.gpus; };
  // One choice may have several reasons; then none of them is known to be this one. Some have no text.
  const std::vector<Mistake> mistakes = {
      {"fastest", [&](const MeasuredRun& run) { return cost(run).days; }},
      {"most_utilized", [](const MeasuredRun& run) { return -accounts::tokens_per_gpu(run); }},
      {"cheapest_step", in_time(step_price)},
      {"shortest_step", [](const MeasuredRun& run) { return run.seconds; }},
      {"", in_time([](const MeasuredRun&) { return 0; })},
      {"", in_time([](const MeasuredRun& run) { return run.gpus; })},
      {"", in_time([](const MeasuredRun& run) { return static_cast<double>(run.sequences); })}};
  const auto explaining = [&](const Mistake& mistake) { return explains(mistake.gives); };
  const auto first = std::ranges::find_if(mistakes, explaining);
  if (std::ranges::count_if(mistakes, explaining) == 1 && *first->id != 0) check.diagnose(first->id);
}

Formula<Count> rounded(const std::string& name, double value) {
  return named(name, static_cast<Count>(std::llround(value)));
}

/// The table's row of so many GPUs and sequences.
MeasuredRun row(const Case& kase, int gpus, Count sequences) {
  for (const MeasuredRun& run : runs_of(kase)) {
    if (run.gpus == gpus && run.sequences == sequences) return run;
  }
  throw std::logic_error(fmt::format("there is no run of {} GPUs and {} sequences", gpus, sequences));
}

}  // namespace

SHARDLINGS_CHECK(scaling) {
  if (!is_implemented(check, "speed-up", "scaled")) return;
  const MeasuredRun base = runs_of(check.kase()).front();
  const auto scaled = [&](const MeasuredRun& run) { return accounts::scaled(base, run); };
  if (!each_within(
          check, "speed-up", [&](const MeasuredRun& run) { return scaled(run).speed_up; }, "times",
          "tokens a second")) {
    return diagnose_as(check, "speed-up",
                       {{"steps_compared", [&](const MeasuredRun& run) { return base.seconds / run.seconds; }},
                        {"upside_down", [&](const MeasuredRun& run) { return 1 / scaled(run).speed_up; }},
                        {"efficiency_as_speed_up", [&](const MeasuredRun& run) { return scaled(run).efficiency; }}});
  }
  if (!each_within(
          check, "efficiency", [&](const MeasuredRun& run) { return scaled(run).efficiency; }, "",
          "speed-up / (N / N of the first run)")) {
    diagnose_efficiency(check, base);
  }
}

SHARDLINGS_CHECK(utilization) {
  if (!is_implemented(check, "MFU", "utilization")) return;
  const TrainingJob job = job_of(check.kase());
  const accounts::Operations of = accounts::operations(job);
  const auto share = [&](double operations) {
    return [&job, operations](const MeasuredRun& run) { return accounts::share_of_peak(job, run, operations); };
  };
  if (!each_within(check, "MFU", share(3 * of.forward()), "%", "3 forwards", 100)) {
    return diagnose_model_utilization(check, job);
  }
  if (!each_within(check, "HFU", share(3 * of.forward() + of.again), "%", "3 forwards, and what is computed again",
                   100)) {
    diagnose_hardware_utilization(check, job);
  }
}

SHARDLINGS_CHECK(batch) {
  if (!is_implemented(check, "critical", "critical_batch")) return;
  const double critical = accounts::critical_batch(norms_of(check.kase())), found = check.answer("critical");
  if (!check.within("critical batch", found, critical, kPercent, "sequences", "variance / square of the norm")) {
    return diagnose_critical_batch(check, found);
  }
  if (!is_implemented(check, "rate", "learning_rate")) return;
  const MeasuredRun base = runs_of(check.kase()).front();
  const auto right = [&](const MeasuredRun& run) { return accounts::rate(kTunedRate, base.sequences, critical, run); };
  if (!each_within(check, "rate", right, "",
                   fmt::format("{} (1 + critical/{}) / (1 + critical/B)", kTunedRate, base.sequences))) {
    diagnose_rate(check, base, critical);
  }
}

SHARDLINGS_CHECK(cost) {
  if (!is_implemented(check, "steps", "cost")) return;
  const TrainingJob job = job_of(check.kase());
  const double critical = accounts::critical_batch(norms_of(check.kase()));
  const auto cost = [&](const MeasuredRun& run) { return accounts::cost(job, critical, run); };
  if (!each_within(
          check, "steps", [&](const MeasuredRun& run) { return cost(run).steps; }, "", "S_min (1 + critical/B)")) {
    return diagnose_steps(check, job, critical);
  }
  if (!each_within(
          check, "days", [&](const MeasuredRun& run) { return cost(run).days; }, "days", "steps x seconds / 86,400")) {
    return;
  }
  if (!each_within(
          check, "GPU-hours", [&](const MeasuredRun& run) { return cost(run).gpu_hours; }, "", "N x hours")) {
    return diagnose_as(check, "GPU-hours",
                       {{"hours_of_one_gpu", [&](const MeasuredRun& run) { return cost(run).gpu_hours / run.gpus; }},
                        {"gpu_days", [&](const MeasuredRun& run) { return cost(run).gpu_hours / 24; }}});
  }
  each_within(
      check, "dollars", [&](const MeasuredRun& run) { return cost(run).dollars; }, "", "GPU-hours x price");
}

SHARDLINGS_CHECK(decision) {
  if (!is_implemented(check, "chosen", "choose")) return;
  const TrainingJob job = job_of(check.kase());
  const double critical = accounts::critical_batch(norms_of(check.kase()));
  const std::vector<MeasuredRun> runs = runs_of(check.kase());
  const double least = accounts::least_dollars(job, critical, runs);
  const double answered = check.answer("chosen");
  if (!(answered >= 0 && answered < static_cast<double>(runs.size()))) {
    check.fail(fmt::format("a run of 0 to {}", runs.size() - 1), fmt::format("choose returns {:g}", answered));
    return check.diagnose("no_such_run");
  }
  const auto chosen = static_cast<std::size_t>(answered);
  const TrainingCost of = accounts::cost(job, critical, runs.at(chosen));
  const std::string what = fmt::format("run {} ({})", chosen, name_of(runs[chosen]));
  if (of.days > job.days) {
    check.fail(fmt::format("training that is done in {:g} days", job.days),
               fmt::format("{}: {:.3g} days", what, of.days));
    return diagnose_choice(check, job, critical, chosen);
  }
  const auto budget = static_cast<Count>(least * (1 + kPercentOfDecision / 100));
  if (!check.at_most("price of training with " + what, static_cast<Count>(of.dollars),
                     called("the cheapest run in time, and 5 %", Formula<Count>(budget)), "dollars")) {
    diagnose_choice(check, job, critical, chosen);
  }
}

SHARDLINGS_PREDICTIONS("GPT-3 on A100") {
  const Case& kase = predict.kase();
  const TrainingJob job = job_of(kase);
  const accounts::Operations of = accounts::operations(job);
  const MeasuredRun first = row(kase, 64, 384), most = row(kase, 1024, 384), some = row(kase, 256, 384);
  const Scaling scaled = accounts::scaled(first, most);
  const double critical = accounts::critical_batch(norms_of(kase));
  const auto mfu = [&](double operations) { return 100 * accounts::share_of_peak(job, some, operations); };
  predict
      .count("efficiency", "What is the efficiency of 1024 GPUs beside 64, with 384 sequences each time?",
             rounded("speed-up / 16", 100 * scaled.efficiency), "%")
      .unlike(rounded("speed-up", 100 * scaled.speed_up), "So much faster it is, with 16 times as many GPUs.");
  predict
      .count("mfu", "What is MFU on 256 GPUs with 384 sequences, whose step takes 20.2546 s?",
             rounded("3 forwards", mfu(3 * of.forward())), "%")
      .unlike(rounded("3 forwards, attention once more", mfu(3 * of.forward() + of.again)),
              "That is HFU: the model does not need what is computed again.")
      .unlike(rounded("forward", mfu(of.forward())), "Backward has twice as many operations as forward.");
  predict.count("critical", "What is the critical batch?", rounded("variance / G²", critical), "sequences")
      .unlike(rounded("variance / the large batch's", accounts::variance(norms_of(kase)) / norms_of(kase).large_square),
              "The large batch's norm has noise in it, too.");
  const TrainingCost cost = accounts::cost(job, critical, row(kase, 512, 384));
  predict
      .count("dollars", "What does training cost on 512 GPUs with 384 sequences, whose step takes 10.6633 s?",
             rounded("GPU-hours x price", cost.dollars), "dollars")
      .unlike(rounded("with S_min steps", cost.dollars * job.least_steps / cost.steps),
              "So few steps a batch without end would take.")
      .unlike(rounded("of one GPU", cost.dollars / 512), "All GPUs are paid for.");
}

SHARDLINGS_PREDICTIONS_AFTER("GPT-3 on A100") {
  const Case& kase = predict.kase();
  TrainingJob job = job_of(kase);
  const double critical = accounts::critical_batch(norms_of(kase));
  const double slow = accounts::least_dollars(job, critical, runs_of(kase));
  job.days = 25;
  const double soon = accounts::least_dollars(job, critical, runs_of(kase));
  predict.answer(1)
      .count("soon", "What does it cost to be done in 25 days instead of 45?", rounded("cheapest in time", soon),
             "dollars")
      .unlike(rounded("45 days", slow), "That run takes 40 days.")
      .unlike(rounded("twice as many GPUs", 2 * slow), "They are paid for half as long.");
  predict.answer(2)
      .count("steps", "How many steps does the critical batch take?", rounded("2 S_min", 2 * job.least_steps), "steps")
      .unlike(rounded("S_min", job.least_steps), "So few steps a batch without end would take.");
}

// Judges a planner: what it says of layouts that were simulated, and the layout that it chooses, by the simulation
// where the table has it, by the formulas where not.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "grading/judge/predictions.h"
#include "mistakes.h"
#include "searches.h"
#include "table.h"

using namespace shardlings;
using namespace shardlings::grader;
using planning::MemoryRule;

namespace {

/// Of a GPU's memory: what the head needs once is counted on every stage. Of a step: what messages of the pipeline
/// take.
constexpr double kPartOfMemory = 0.03, kPartOfTime = 0.03;
constexpr double kPercentOfPlan = 5;

const char* name_of(Recomputed recomputed) {
  if (recomputed == Recomputed::attention) return ", attention again";
  return recomputed == Recomputed::blocks ? ", blocks again" : ", nothing again";
}

std::string name_of(const Layout& of) {
  const std::string chunks = of.chunks > 1 ? fmt::format(" v{}", of.chunks) : "";
  return fmt::format("t{} p{}{} d{} b{}{}", of.tp, of.pp, chunks, of.dp, of.batch, name_of(of.recomputed));
}

using OfLayout = std::function<double(const Layout&)>;

/// All answers of that name are what a mistake gives, but for rounding.
bool is_like(const CheckContext& check, const std::string& name, const OfLayout& mistaken) {
  const std::vector<double> found = check.answers(name);
  const std::vector<SimulatedLayout> rows = simulated(check.kase());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i >= found.size()) return false;
    const double gives = mistaken(rows[i].layout);
    if (!(std::abs(found[i] - gives) <= 0.002 * std::abs(gives))) return false;
  }
  return true;
}

/// Answers of that name are what was simulated, but for `off` of each; `shown` of it is printed.
bool each_within(CheckContext& check, const std::string& name, double SimulatedLayout::*simulated_one,
                 const std::function<double(const SimulatedLayout&)>& off, double shown, const std::string& unit) {
  const std::vector<double> found = check.answers(name);
  const std::vector<SimulatedLayout> rows = simulated(check.kase());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double of = i < found.size() ? found[i] : 0, right = rows[i].*simulated_one;
    const double percent = std::round(1000 * off(rows[i]) / right) / 10;
    if (!check.within(fmt::format("{} of {}", name, name_of(rows[i].layout)), shown * of, shown * right, percent,
                      unit)) {
      return false;
    }
  }
  return true;
}

/// The mistake that all answers of that name come from, if it is one alone.
void diagnose_as(CheckContext& check, const std::string& name,
                 const std::vector<std::pair<const char*, OfLayout>>& mistakes) {
  std::set<std::string> causes;
  for (const auto& [diagnosis, mistaken] : mistakes) {
    if (is_like(check, name, mistaken)) causes.insert(diagnosis);
  }
  if (causes.size() == 1) check.diagnose(*causes.begin());
}

void diagnose_memory(CheckContext& check, const PlannedJob& job) {
  std::vector<std::pair<const char*, OfLayout>> mistakes;
  for (const planning::MemoryMistake& mistake : planning::memory_mistakes()) {
    mistakes.emplace_back(mistake.diagnosis, [&job, rule = mistake.rule](const Layout& layout) {
      return planning::memory(job, layout, rule);
    });
  }
  diagnose_as(check, "memory", mistakes);
}

void diagnose_time(CheckContext& check, const PlannedJob& job) {
  std::vector<std::pair<const char*, OfLayout>> mistakes;
  for (const planning::TimeMistake& mistake : planning::time_mistakes()) {
    mistakes.emplace_back(mistake.diagnosis, [&job, apply = mistake.apply](const Layout& layout) {
      planning::StepParts parts = planning::parts_of(job, layout);
      apply(parts, job, layout);
      return parts.sum();
    });
  }
  diagnose_as(check, "seconds", mistakes);
}

/// Something of that name was answered: the harness leaves out what is not implemented yet.
bool is_implemented(CheckContext& check, const std::string& name) {
  if (!check.answers(name).empty()) return true;
  check.fail("an answer of " + name, name + " is not implemented yet, or calls what is not");
  check.diagnose("not_implemented");
  return false;
}

/// Published by the harness, but from a jail it may be any number.
template <class Number>
Number whole(double number) {
  return std::abs(number) < 1e9 ? static_cast<Number>(number) : Number{-1};
}

/// The plan, if it is possible; else the check fails.
std::optional<Layout> chosen_by(CheckContext& check, const PlannedJob& job) {
  if (!is_implemented(check, "plan")) return {};
  const std::vector<double> of = check.answers("plan");
  const int again = whole<int>(of.at(5));
  const Layout chosen{whole<int>(of.at(0)), whole<int>(of.at(1)),   whole<int>(of.at(2)),
                      whole<int>(of.at(3)), whole<Count>(of.at(4)), static_cast<Recomputed>(again)};
  const std::string broken = planning::broken_rule(job, chosen);
  if (broken.empty()) return chosen;
  check.fail("a possible layout", "plan returns " + broken);
  check.diagnose(planning::same(chosen, Layout{}) ? "nothing_kept" : "impossible_plan");
  return {};
}

/// As it was simulated, or else by the formulas.
SimulatedLayout judged(const Case& kase, const PlannedJob& job, const Layout& layout) {
  for (const SimulatedLayout& row : simulated(kase)) {
    if (planning::same(row.layout, layout)) return row;
  }
  return {layout, planning::seconds(job, layout), planning::memory(job, layout)};
}

/// Of those that were simulated and fit.
double least_seconds(const Case& kase) {
  double least = HUGE_VAL;
  for (const SimulatedLayout& row : simulated(kase)) {
    if (row.bytes <= kGib * kase.number("memory_gib")) least = std::min(least, row.seconds);
  }
  return least;
}

// ---- The search ----

constexpr const char* diagnosis_of(planning::Size size) {
  switch (size) {
    case planning::Size::tensor: return "tensor_sizes_left_out";
    case planning::Size::stages: return "stages_left_out";
    case planning::Size::chunks: return "chunks_left_out";
    case planning::Size::replicas: return "replicas_left_out";
    case planning::Size::batch: return "micro_batches_left_out";
    default: return "recomputation_left_out";
  }
}

/// By the submission's own functions one of the simulated layouts fits and is faster than its plan.
bool knows_better(const CheckContext& check, const PlannedJob& job) {
  const std::vector<double> bytes = check.answers("memory"), seconds = check.answers("seconds");
  const double of_plan = check.answer("seconds of the plan");
  for (std::size_t i = 0; i < std::min(bytes.size(), seconds.size()); ++i) {
    if (bytes[i] <= job.memory && seconds[i] < of_plan) return true;
  }
  return false;
}

/// Which searches that are too small would have found this plan, which takes more than `limit`. Where those of several
/// kinds would, the plan does not tell which it was.
void diagnose_plan(CheckContext& check, const PlannedJob& job, const Layout& chosen, double limit) {
  if (check.answer("memory of the plan") <= job.memory && !knows_better(check, job)) {
    return check.diagnose("best_by_its_own_formulas");
  }
  std::set<std::string> causes;
  if (planning::is_misguided(job, chosen, limit)) causes.insert("decision_guide");
  std::string detail;
  for (const planning::SmallSearch& search : planning::small_searches(job)) {
    const std::optional<Layout> found = planning::fastest(job, search.is_looked_at);
    if (!found || !planning::same(*found, chosen)) continue;
    causes.insert(diagnosis_of(search.size));
    if (detail.empty()) detail = fmt::format("By the formulas it is the fastest layout {}.", search.looks_at);
  }
  if (causes.size() == 1 && !planning::is_best_with_a_reserve(job, chosen)) {
    if (!detail.empty()) check.detail(detail);
    check.diagnose(*causes.begin());
  } else if (knows_better(check, job)) {
    check.diagnose("faster_one_left_out");
  }
}

}  // namespace

SHARDLINGS_CHECK(memory) {
  if (!is_implemented(check, "memory")) return;
  const double off = kPartOfMemory * kGib * check.kase().number("memory_gib");
  const auto of_gpu = [off](const SimulatedLayout&) { return off; };
  if (each_within(check, "memory", &SimulatedLayout::bytes, of_gpu, 1 / kGib, "GiB")) return;
  check.detail(fmt::format("3 % of a GPU's memory, {:.3g} GiB, is what it may be off", off / kGib));
  diagnose_memory(check, job_of(check.kase()));
}

SHARDLINGS_CHECK(time) {
  if (!is_implemented(check, "seconds")) return;
  const auto of_step = [](const SimulatedLayout& row) { return kPartOfTime * row.seconds; };
  if (!each_within(check, "seconds", &SimulatedLayout::seconds, of_step, 1, "s")) {
    diagnose_time(check, job_of(check.kase()));
  }
}

SHARDLINGS_CHECK(fits) {
  const PlannedJob job = job_of(check.kase());
  const std::optional<Layout> answered = chosen_by(check, job);
  if (!answered) return;
  const Layout& chosen = *answered;
  const auto bytes = static_cast<std::int64_t>(judged(check.kase(), job, chosen).bytes);
  const auto has = static_cast<std::int64_t>(kGib * check.kase().number("memory_gib"));
  if (!check.at_most(fmt::format("peak of the plan, {}", name_of(chosen)), Bytes(bytes),
                     called("all that a GPU has", Formula<Bytes>(Bytes(has))))) {
    const double own = check.answer("memory of the plan");
    if (own > job.memory) check.diagnose("memory_not_asked");
    if (own <= job.memory) check.diagnose("memory_says_it_fits");
  }
}

SHARDLINGS_CHECK(plan) {
  const PlannedJob job = job_of(check.kase());
  const std::optional<Layout> answered = chosen_by(check, job);
  if (!answered) return;
  const Layout& chosen = *answered;
  const double least = least_seconds(check.kase()), takes = judged(check.kase(), job, chosen).seconds;
  const auto budget = static_cast<std::int64_t>(1e9 * least * (1 + kPercentOfPlan / 100));
  if (!check.at_most(fmt::format("step of the plan, {}", name_of(chosen)),
                     Nanos(static_cast<std::int64_t>(1e9 * takes)),
                     called("the best that was found, and 5 %", Formula<Nanos>(Nanos(budget))))) {
    diagnose_plan(check, job, chosen, 1e-9 * static_cast<double>(budget));
  }
}

namespace {

/// Korthikanti et al. 2022, table 5, with sequence parallelism and selective recomputation.
constexpr Layout kPublished{8, 8, 3, 1, 1, Recomputed::attention};

Formula<Nanos> as_time(const std::string& name, double seconds) {
  return named(name, Nanos(static_cast<std::int64_t>(1e9 * seconds)));
}

Formula<Bytes> as_bytes(const std::string& name, double bytes) {
  return named(name, Bytes(static_cast<std::int64_t>(bytes)));
}

}  // namespace

SHARDLINGS_PREDICTIONS("175 billion on 64 A100") {
  const PlannedJob job = job_of(predict.kase());
  Layout one_chunk = kPublished;
  one_chunk.chunks = 1;
  const planning::StepParts parts = planning::parts_of(job, kPublished);
  const auto flight = [&](const Layout& layout) {
    return named("warm-up + 1", static_cast<Count>(planning::in_flight(job, layout, 0)));
  };
  predict
      .count("flight",
             "With t = 8, p = 8, v = 3, d = 1, b = 1 and attention computed again: how many chunks are in flight on "
             "the first stage?",
             flight(kPublished), "chunks")
      .unlike(flight(one_chunk),
              "That is 1F1B with whole stages; chunks take turns, and more of them are on their way.")
      .unlike(named("p v", Count{kPublished.pp} * kPublished.chunks), "The warm-up is longer than p v - 1 chunks.");
  const MemoryRule few{
      .chunks = [](const PlannedJob&, const Layout& of, int stage) { return static_cast<double>(of.pp - stage); }};
  predict
      .number("memory", "With this layout: how many bytes does a rank of the first stage need at its peak?",
              as_bytes("states + chunks in flight + once", planning::memory(job, kPublished)))
      .unlike(as_bytes("8 chunks in flight", planning::memory(job, kPublished, few)),
              "So few chunks are in flight with one chunk on each stage.");
  predict.number("bubble", "With this layout: how long is the bubble?", as_time("(p-1) stage / v", parts.bubble))
      .unlike(as_time("(p-1) stage", kPublished.chunks * parts.bubble),
              "Three chunks on a stage: the wait is for a third of it.");
  predict
      .number("time", "With this layout: how long does the step take?",
              as_time("steady + bubble + update", planning::seconds(job, kPublished)))
      .unlike(as_time("without the bubble", planning::seconds(job, kPublished) - parts.bubble),
              "The last stage waits for its first micro-batch.")
      .unlike(as_time("without the head", planning::seconds(job, kPublished) - parts.head),
              "The last stage has the head, too, and it sets the pace.")
      .unlike(as_time("without the update", planning::seconds(job, kPublished) - parts.update),
              "When all micro-batches are done, each rank updates its weights.");
}

SHARDLINGS_PREDICTIONS_AFTER("175 billion on 64 A100") {
  const PlannedJob job = job_of(predict.kase());
  Layout one_chunk = kPublished;
  one_chunk.chunks = 1;
  predict.answer(1)
      .number("plain",
              "With t = 8, p = 8, d = 1, b = 1 and attention computed again: how long does the step take with one "
              "chunk on each stage?",
              as_time("bubble of whole stages", planning::seconds(job, one_chunk)))
      .unlike(as_time("three chunks", planning::seconds(job, kPublished)), "That is the step with three.")
      .unlike(
          as_time("without the update", planning::seconds(job, one_chunk) - planning::parts_of(job, one_chunk).update),
          "When all micro-batches are done, each rank updates its weights.");
  const Layout short_pipeline{8, 4, 1, 2, 1, Recomputed::attention};
  predict.answer(2)
      .number("exchange", "With t = 8, p = 4, d = 2, b = 1: how long do the replicas exchange gradients and weights?",
              as_time("4 W (d-1)/d / port", planning::parts_of(job, short_pipeline).exchange))
      .unlike(as_time("inside a node",
                      planning::parts_of(job, short_pipeline).exchange * job.port_bandwidth / job.node_bandwidth),
              "The replicas are 32 ranks apart: in different nodes.");
}

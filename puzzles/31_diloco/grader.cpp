// Judges workers that meet once in H steps: their weights after all rounds, whose the moments are, bytes of a round,
// what a sum hides behind inner steps, and what is kept beside the state.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/outer_training.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/judge/predictions.h"
#include "outer_cost.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::Event;
using front::EventKind;

namespace {

// ---- Numbers ----

using Workers = std::vector<TrainedWorker<double>>;

/// With the weights that the harness gives to exact cases.
OuterCase outer_case_of(const Case& kase) {
  Case nobody_lost = kase;
  nobody_lost.numbers["lost_round"] = 0;
  OuterCase of{kase, outer_plan_of(kase), outer_plan_of(nobody_lost)};
  const LayersOf<float> layers = initial_weights<float>(kase);
  for (std::size_t l = 0; l < layers.size() && is_quadratic(kase); ++l) {
    of.exact_weights.push_back(exact_weights(kase, static_cast<int>(l), static_cast<Count>(layers[l].size())));
  }
  return of;
}

Workers trained_with(const Case& kase, OuterMistake mistake) {
  return WorkerTraining<double>(outer_case_of(kase), 0, mistake).run();
}

/// What careful computations in f32 make of one tensor of each layer, run by run.
Layers tolerances(const Case& kase, const Layers& exact, LayersOf<float> TrainedWorker<float>::*which) {
  std::vector<LayersOf<float>> runs;
  const OuterCase of = outer_case_of(kase);
  for (std::uint64_t shake = 0; shake < kRuns; ++shake) {
    runs.push_back(of_all_workers(WorkerTraining<float>(of, shake, OuterMistake::none).run(), which));
  }
  return tolerances_of(exact, runs);
}

Layers weights_of_all(const Workers& trained) {
  return of_all_workers(trained, &TrainedWorker<double>::weights);
}

/// Every worker's first weights, as weights_of_all() has them.
Layers first_weights(const Case& kase) {
  Case untrained = kase;
  untrained.steps = 0;
  return weights_of_all(trained_with(untrained, OuterMistake::none));
}

/// Some worker has not run T inner steps, as far as the model's calls tell.
bool diagnose_steps(CheckContext& check) {
  const Count right = check.kase().steps * number_of_layers(check.kase());
  for (int rank = 0; rank < check.ranks() && !is_quadratic(check.kase()); ++rank) {
    const auto forwards = static_cast<Count>(check.events(rank, EventKind::forward).size());
    if (forwards == right) continue;
    check.diagnose(forwards > right ? "steps_repeated" : "steps_left_out");
    return true;
  }
  return false;
}

void diagnose_output(CheckContext& check, const Layers& right) {
  if (diagnose_steps(check)) return;
  constexpr std::pair<const char*, OuterMistake> kMistakes[] = {
      {"never_together", OuterMistake::never},
      {"moved_away", OuterMistake::added},
      {"from_own_weights", OuterMistake::from_worker},
      {"plain_mean", OuterMistake::plain_mean},
      {"whole_shares", OuterMistake::whole_shares},
      {"summed", OuterMistake::summed},
      {"lost_one_counted", OuterMistake::lost_counted},
      {"divided_by_all", OuterMistake::divided_by_all},
      {"left_behind", OuterMistake::left_behind},
      {"no_outer_step", OuterMistake::averaged},
      {"heavy_ball", OuterMistake::heavy_ball},
      {"momentum_unused", OuterMistake::momentum_unused},
      {"momentum_lost", OuterMistake::momentum_lost},
      {"anchor_kept", OuterMistake::anchor_kept},
      {"anchor_of_worker", OuterMistake::anchor_of_worker},
      {"mix_swapped", OuterMistake::mix_swapped},
      {"mix_ignored", OuterMistake::mix_ignored},
      {"taken_late", OuterMistake::taken_late},
      {"moments_averaged", OuterMistake::moments_averaged},
      {"moments_cleared", OuterMistake::moments_cleared},
      {"whole_model_each_round", OuterMistake::whole_model},
      {"rounds_too_long", OuterMistake::long_rounds},
      {"left_behind", OuterMistake::lost_weights},
      {"left_behind", OuterMistake::lost_anchor},
      {"lost_one_unmixed", OuterMistake::lost_unmixed},
      {"moments_cleared", OuterMistake::lost_moments},
      {"moments_cleared", OuterMistake::count_cleared},
      {"moments_averaged", OuterMistake::v_averaged},
      {"round_left_out", OuterMistake::round_left_out},
      {"round_left_out", OuterMistake::last_left_out},
      {"round_before_its_step", OuterMistake::before_step},
      {"round_before_its_step", OuterMistake::starts_before},
      {"round_ends_late", OuterMistake::late_end},
      {"one_step_early", OuterMistake::one_step_early},
      {"other_fragment", OuterMistake::reversed},
      {"other_fragment", OuterMistake::rounds_in_blocks},
      {"rounds_too_long", OuterMistake::all_every_h},
      {"without_streaming", OuterMistake::without_overlap},
      {"mixed_otherwise", OuterMistake::mix_added},
      {"mixed_otherwise", OuterMistake::mix_old_anchor},
      {"divided_twice", OuterMistake::divided_twice},
      {"momentum_dampened", OuterMistake::dampened},
      {"rate_left_out", OuterMistake::rate_not_of_m},
      {"rate_left_out", OuterMistake::rate_not_of_d},
      {"anchor_too_late", OuterMistake::late_anchor},
  };
  const Case& kase = check.kase();
  const Layers first = first_weights(kase), found = found_layers(check.result(), "model");
  const Layers never = weights_of_all(trained_with(kase, OuterMistake::never));
  for (const auto& [id, mistake] : kMistakes) {
    const Layers mistaken = weights_of_all(trained_with(kase, mistake));
    // Who has sent something may have done anything with it that left the weights alone.
    if (check.counters(0).bytes_sent() > Bytes(0) && alike(mistaken, never)) continue;
    // What leaves the numbers of this case as they are is no sign of anything.
    if (!alike(mistaken, right) && alike(combine(found, -1, first), combine(mistaken, -1, first))) {
      return check.diagnose(id);
    }
  }
  const bool unmoved = alike(combine(found, -1, first), combine(never, -1, first));
  if (unmoved && check.counters(0).bytes_sent() > Bytes(0)) check.diagnose("sums_unused");
}

bool equal_exactly(CheckContext& check, const Layers& right) {
  for (std::size_t l = 0; l < right.size(); ++l) {
    if (!check.identical("model." + std::to_string(l), {right[l].begin(), right[l].end()})) return false;
  }
  return true;
}

/// All workers have the same numbers, one worker's behind another's.
bool of_one_worker(const Layers& of_all, int workers) {
  return std::all_of(of_all.begin(), of_all.end(), [workers](const std::vector<double>& all) {
    const auto first = static_cast<std::ptrdiff_t>(all.size()) / workers;
    return std::equal(all.begin() + first, all.end(), all.begin());
  });
}

void diagnose_moments(CheckContext& check) {
  const Case& kase = check.kase();
  const Layers found = found_layers(check.result(), "m");
  const auto moments = [&](OuterMistake mistake) {
    return of_all_workers(trained_with(kase, mistake), &TrainedWorker<double>::m);
  };
  const Layers right = moments(OuterMistake::none);
  for (const auto& [id, mistake] : {std::pair("moments_averaged", OuterMistake::moments_averaged),
                                    std::pair("moments_cleared", OuterMistake::moments_cleared)}) {
    const Layers mistaken = moments(mistake);
    if (!alike(mistaken, right) && alike(found, mistaken)) return check.diagnose(id);
  }
  // Wrong weights make wrong gradients, and those other moments, each worker its own.
  const Layers model = weights_of_all(trained_with(kase, OuterMistake::none));
  if ((check.ranks() == 1 || !of_one_worker(found, check.ranks())) &&
      !alike(found_layers(check.result(), "model"), model)) {
    check.wait_for("output");
  }
}

// ---- Bytes ----

/// The most that a rank sends between two inner steps, and where.
struct Burst {
  Bytes bytes;
  wire::Place place;
};

Burst largest_burst(const CheckContext& check, int rank) {
  std::vector<Event> events = check.trace(rank).events;
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.order < b.order; });
  Burst now, largest;
  for (const Event& event : events) {
    if (event.depth > 0) continue;
    if (event.kind == EventKind::forward) now = {};
    if (event.kind != EventKind::collective && event.kind != EventKind::send) continue;
    now = {now.bytes + event.bytes, place_of(event)};
    if (now.bytes > largest.bytes) largest = now;
  }
  return largest;
}

void diagnose_bytes(CheckContext& check, int rank) {
  const OuterCost cost(check.kase(), rank);
  const front::Counters& counters = check.counters(rank);
  const Bytes sent = counters.bytes_sent();
  if (diagnose_steps(check)) return;
  if (check.ranks() > 2 && counters.calls(Collective::all_gather) > 0 &&
      counters.calls(Collective::reduce_scatter) == 0) {
    return check.diagnose("gathered");
  }
  if (sent >= check.kase().steps * cost.whole_sent()) return check.diagnose("each_step");
  if (check.counters(rank).bytes_sent(Collective::all_reduce) < sent) return check.diagnose("not_by_all_reduces");
  check.diagnose("more_than_a_fragment");
}

// ---- Time and memory ----

Bytes total(const front::MemoryPoint& point) {
  Bytes sum;
  for (const Bytes bytes : point.live) sum += bytes;
  return sum;
}

/// For how long something travels while the rank computes. (That the sum of one layer travels while the program waits
/// for another one's hides nothing.)
Nanos behind_steps(const CheckContext& check, int rank) {
  std::vector<Event> computing = check.events(rank, EventKind::forward);
  const std::vector<Event> backwards = check.events(rank, EventKind::backward);
  computing.insert(computing.end(), backwards.begin(), backwards.end());
  Nanos behind;
  for (const Event& transfer : check.events(rank, EventKind::collective)) {
    for (const Event& step : computing) {
      behind += std::max(Nanos(0), std::min(transfer.end, step.end) - std::max(transfer.begin, step.begin));
    }
  }
  return behind;
}

/// The line of the longest standstill.
wire::Place place_of_waiting(const CheckContext& check, int rank) {
  const std::vector<Event> waits = check.events(rank, EventKind::wait);
  const auto longest = std::max_element(
      waits.begin(), waits.end(), [](const Event& a, const Event& b) { return a.end - a.begin < b.end - b.begin; });
  return longest == waits.end() ? wire::Place{} : place_of(*longest);
}

bool ends_within(CheckContext& check, const Formula<Nanos>& limit) {
  const int rank = check.slowest_rank();
  if (check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank), limit,
                    place_of_waiting(check, rank))) {
    return true;
  }
  check.detail(fmt::format("sums travel for {} while inner steps run", to_text(behind_steps(check, rank))));
  return false;
}

void diagnose_time(CheckContext& check) {
  const Case& kase = check.kase();
  if (diagnose_steps(check)) return;
  if (kase.integer("overlap") > 0 && behind_steps(check, check.slowest_rank()) == Nanos(0)) {
    return check.diagnose("waited_at_once");
  }
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (check.counters(rank).bytes_sent() > OuterCost(kase, rank).all_sent()) return;  // that takes time as well
  }
  check.diagnose("waited_early");
}

void diagnose_memory(CheckContext& check, Bytes budget) {
  const int rank = check.worst_rank();
  const std::vector<Event> sums = check.events(rank, EventKind::collective);
  if (sums.empty()) return;
  Bytes before;  // the first sum
  for (const front::MemoryPoint& point : check.trace(rank).memory) {
    if (point.time < sums.front().posted) before = std::max(before, total(point));
  }
  if (before > budget) return check.diagnose("copy_kept");
  const Count axpys_of_steps = 2 * check.kase().steps * number_of_layers(check.kase());
  std::map<int, Count> steps_lines;  // how often something of an inner step was called from there
  for (const Event& event :
       check.events(rank, is_quadratic(check.kase()) ? EventKind::operation : EventKind::forward)) {
    const bool counts = !is_quadratic(check.kase()) || check.trace(rank).names.at(event.name) == "axpy";
    if (counts) ++steps_lines[place_of(event).line];
  }
  bool known = false;
  for (const auto& [line, calls] : steps_lines) {
    if (is_quadratic(check.kase()) && calls < axpys_of_steps) continue;
    known = true;
    if (line == check.peak_place(rank).line) return check.diagnose("differences_kept");
  }
  check.diagnose(known ? "more_in_a_round" : "more_at_once");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Case& kase = check.kase();
  const Layers right = weights_of_all(trained_with(kase, OuterMistake::none));
  if (is_quadratic(kase)) {
    if (!equal_exactly(check, right)) diagnose_output(check, right);
    return;
  }
  const Layers tolerance = tolerances(kase, right, &TrainedWorker<float>::weights);
  for (std::size_t l = 0; l < right.size(); ++l) {
    if (!check.equal("model." + std::to_string(l), right[l], tolerance[l])) return diagnose_output(check, right);
  }
}

SHARDLINGS_CHECK(moments) {
  const Case& kase = check.kase();
  if (kase.model.optimizer == model::ModelSpec::Optimizer::sgd) {
    check.exactly("moments of plain SGD", static_cast<Count>(found_layers(check.result(), "m").size()),
                  named("none", Count{0}), "tensors");
    return;
  }
  const Workers trained = trained_with(kase, OuterMistake::none);
  const auto hold = [&](const std::string& name, auto of_double, auto of_float) {
    const Layers right = of_all_workers(trained, of_double), tolerance = tolerances(kase, right, of_float);
    for (std::size_t l = 0; l < right.size(); ++l) {
      if (!check.equal(name + std::to_string(l), right[l], tolerance[l])) return false;
    }
    return true;
  };
  const bool held = hold("m.", &TrainedWorker<double>::m, &TrainedWorker<float>::m) &&
                    hold("v.", &TrainedWorker<double>::v, &TrainedWorker<float>::v);
  if (!held) diagnose_moments(check);
}

SHARDLINGS_CHECK(communication) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const OuterCost cost(check.kase(), rank);
    const Burst burst = largest_burst(check, rank);
    // No call of the model parts the steps of an exact case.
    const bool fits =
        is_quadratic(check.kase()) || check.at_most("sent between two inner steps by " + check.name_of(rank),
                                                    burst.bytes, cost.largest_round(), burst.place);
    if (!fits || !sends_at_most(check, rank, cost.all_rounds())) return diagnose_bytes(check, rank);
    const front::Counters& counters = check.counters(rank);
    if (!check.at_most("sent by " + check.name_of(rank) + ", but not in all-reduces",
                       counters.bytes_sent() - counters.bytes_sent(Collective::all_reduce), named("none", Bytes(0)))) {
      return check.diagnose("not_by_all_reduces");
    }
  }
}

SHARDLINGS_CHECK(time) {
  if (!nothing_on_host(check)) return;  // copies to it would take time, and that is not what is wrong with them
  if (!ends_within(check, OuterCost(check.kase(), 0).time())) diagnose_time(check);
}

SHARDLINGS_CHECK(memory) {
  const Formula<Bytes> budget = OuterCost(check.kase(), 0).peak();
  if (!check.peaks_at_most(budget)) return diagnose_memory(check, budget.value());
  nothing_on_host(check);
}

SHARDLINGS_PREDICTIONS("4 workers") {
  const Case& kase = predict.kase();
  const OuterCost cost(kase, 0);
  const Formula<Count> steps = named("steps", Count(kase.steps));
  const Formula<Bytes> once = named("an all-reduce of all weights", cost.whole_sent());
  predict.sent("sent", 0, "How many bytes does each worker send in the whole run?", cost.all_rounds())
      .unlike(steps * once, "That is data parallel training, which sums in each step.")
      .unlike(once, "There are several rounds.");
  predict.end("time", "When does the run end?", cost.time())
      .unlike(cost.computing(), "Nobody computes while a sum travels: overlap is 0 here.")
      .unlike(cost.computing() + steps * cost.all_reduces(), "The workers meet once in H steps.")
      .unlike(named("m", Count(kase.micro_batches)) * cost.computing(),
              "An inner step takes one micro-batch; the three of them take turns.");
  predict.peak("peak", 0, "How many bytes of device memory are alive on a worker at the worst moment?", cost.peak())
      .unlike(cost.peak() - named("one of the two", cost.weights()),
              "There are two things as large as the weights: the anchor, and the momentum of the outer step.")
      .unlike(cost.peak() + named("differences", cost.weights()),
              "Differences are there between two inner steps, when there are no activations.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 workers") {
  const Formula<Bytes> weights = named("weights", Bytes(40'000'000'000));
  const Formula<Count> n = named("N", Count{16});
  const Formula<Bytes> sent = 2 * (folded(n - 1) / n * weights);
  const Formula<Count> bytes = named("bytes", sent.value().value()), bits = named("bits of a byte", Count{8});
  const Formula<Nanos> bit = named("1 ns", Nanos(1));
  predict.answer(1)
      .number("round", "10 billion weights in f32, 16 workers. How many bytes does each of them send in a round?", sent)
      .unlike(weights, "A ring sends 2 (N-1)/N of what it sums up.")
      .unlike(folded(n - 1) / n * weights, "Sums have to get back to everybody.");
  predict.answer(1)
      .number("line", "How long does that take on a line of 1 Gbit/s, on which a bit takes 1 ns?", bytes * (bits * bit))
      .unlike(bytes * bit, "A byte has eight bits.");
  predict.answer(1)
      .count("steps", "A step takes 40 s. After how many steps at least is a tenth of all time lost at most?",
             named("9 x 600 s / 40 s", Count{135}), "steps")
      .unlike(named("10 x 600 s / 40 s", Count{150}), "A tenth of all time, with the round in it.");
}

// Judges sums of compressed gradients: what each rank has sent and what it owes, step by step and bit for bit from what
// went in; that nothing is lost in the long run; bytes and memory.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/loose_cost.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/formulas/tensor_parallel.h"
#include "grading/judge/most_of_products.h"
#include "grading/judge/predictions.h"
#include "pulled.h"
#include "rules.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;

namespace {

// ---- The run ----

/// What was published, by step and rank.
struct Run {
  std::vector<std::vector<Numbers>> grads, sums, residuals;
  std::size_t steps() const { return grads.size(); }
  /// What the ranks owed before a step.
  std::vector<Numbers> owed_before(std::size_t step) const {
    if (step > 0) return residuals[step - 1];
    return std::vector<Numbers>(grads.front().size(), Numbers(grads.front().front().size()));
  }
};

std::vector<std::vector<Numbers>> by_step(const CheckContext& check, const std::string& name) {
  const Output* output = check.output(name);
  const auto ranks = static_cast<std::size_t>(check.ranks()), steps = static_cast<std::size_t>(check.kase().steps);
  const auto n = static_cast<std::size_t>(check.kase().integer("elements"));
  std::vector<std::vector<Numbers>> all(steps);
  if (output == nullptr || output->values.size() != ranks * steps * n) return {};
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const float* row = output->values.data() + (rank * steps + step) * n;
      all[step].emplace_back(row, row + n);
    }
  }
  return all;
}

Run run_of(const CheckContext& check) {
  return {by_step(check, "gradients"), by_step(check, "sums"), by_step(check, "residuals")};
}

/// What each step should have made of what went in.
std::vector<StepOfRanks> expected(const CheckContext& check, const Run& run, FeedbackMistake mistake) {
  std::vector<StepOfRanks> steps;
  for (std::size_t step = 0; step < run.steps(); ++step) {
    steps.push_back(compressed_step(run.grads[step], run.owed_before(step), check.kase().integer("k"), mistake));
  }
  return steps;
}

/// As the outputs have it: all steps of a rank, then those of the next one.
Numbers by_rank_and_step(const std::vector<StepOfRanks>& steps, std::vector<Numbers> StepOfRanks::*which) {
  Numbers all;
  for (std::size_t rank = 0; !steps.empty() && rank < steps.front().sums.size(); ++rank) {
    for (const StepOfRanks& step : steps) {
      all.insert(all.end(), (step.*which)[rank].begin(), (step.*which)[rank].end());
    }
  }
  return all;
}

bool same(const Numbers& a, const Numbers& b) {
  constexpr float kRounded = 1e-5F;
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](float x, float y) {
           return std::abs(x - y) <= kRounded * std::max(1.0F, std::abs(y));
         });
}

void diagnose(CheckContext& check, const Run& run) {
  constexpr std::pair<const char*, FeedbackMistake> kMistakes[] = {
      {"no_feedback", FeedbackMistake::no_feedback},
      {"owed_forgotten", FeedbackMistake::forgotten},
      {"sent_stays", FeedbackMistake::sent_stays},
      {"sum_subtracted", FeedbackMistake::sum_subtracted},
      {"chosen_by_gradient", FeedbackMistake::chosen_by_gradient},
      {"other_number", FeedbackMistake::one_more},
      {"other_number", FeedbackMistake::one_less},
      {"own_only", FeedbackMistake::own_only},
      {"averaged", FeedbackMistake::averaged},
      {"own_counted", FeedbackMistake::own_counted},
      {"own_places", FeedbackMistake::own_places},
      {"last_one_wins", FeedbackMistake::last_one_wins},
      {"first_one_wins", FeedbackMistake::first_one_wins},
      {"by_value", FeedbackMistake::by_value},
      {"same_places_always", FeedbackMistake::first_places},
      {"chosen_too_early", FeedbackMistake::chosen_by_old},
      {"step_late", FeedbackMistake::step_late},
      {"gradient_lost", FeedbackMistake::gradient_lost},
      {"gradient_sent", FeedbackMistake::gradient_sent},
      {"other_number", FeedbackMistake::kth_of_ranks},
      {"chosen_in_blocks", FeedbackMistake::in_blocks},
      {"values_rounded", FeedbackMistake::rounded_lost},
      {"values_rounded", FeedbackMistake::rounded_owed},
      {"residuals_averaged", FeedbackMistake::residuals_averaged},
      {"sum_subtracted", FeedbackMistake::mean_subtracted},
      {"own_twice", FeedbackMistake::own_twice},
      {"rank_missing", FeedbackMistake::own_missing},
      {"rank_missing", FeedbackMistake::last_missing},
      {"own_places", FeedbackMistake::next_places},
      {"sum_compressed_again", FeedbackMistake::largest_of_sum},
  };
  const auto flat = [](const std::vector<StepOfRanks>& steps) {
    return std::pair(by_rank_and_step(steps, &StepOfRanks::sums), by_rank_and_step(steps, &StepOfRanks::residuals));
  };
  const auto right = flat(expected(check, run, FeedbackMistake::none));
  const Numbers& sums = check.output("sums")->values;
  const Numbers& residuals = check.output("residuals")->values;
  if (same(sums, right.first) && same(residuals, right.second)) {
    // Right but for rounding. Of residuals nothing is rounded that the rule does not round.
    return residuals == right.second ? check.diagnose("summed_in_another_order") : void();
  }
  std::set<std::string> ids;  // in some cases two mistakes make the same of the numbers: then none is named
  for (const auto& [id, mistake] : kMistakes) {
    const auto mistaken = flat(expected(check, run, mistake));
    // What makes no difference in this case is no sign of anything.
    const bool differs = !same(mistaken.first, right.first) || !same(mistaken.second, right.second);
    if (differs && same(sums, mistaken.first) && same(residuals, mistaken.second)) ids.insert(id);
  }
  if (ids.size() == 1) check.diagnose(*ids.begin());
}

/// An output is what the rule makes of the run's own gradients and residuals.
void hold_to_rule(CheckContext& check, const std::string& name, std::vector<Numbers> StepOfRanks::*which) {
  const Run run = run_of(check);
  const Numbers right = by_rank_and_step(expected(check, run, FeedbackMistake::none), which);
  if (check.identical(name, right)) return;
  check.detail("row: the rank; column: the step, from 0, times n, plus the element");
  if (is_rounded(check.kase())) check.detail("numbers that are printed alike differ in their last bits");
  if (run.residuals.size() == run.steps() && run.sums.size() == run.steps()) diagnose(check, run);
}

double norm(const Numbers& x) {
  double squares = 0;
  for (const float each : x) squares += static_cast<double>(each) * static_cast<double>(each);
  return std::sqrt(squares);
}

constexpr double kThousand = 1000;

// ---- The long run ----

/// Elements of which more than `rounding` was computed that is neither in a sum nor owed by anybody.
Count lost_elements(const Run& run, double rounding) {
  const std::size_t n = run.grads.front().front().size();
  Count lost = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double computed = 0, accounted = 0;
    for (std::size_t step = 0; step < run.steps(); ++step) {
      for (const Numbers& grad : run.grads[step]) computed += static_cast<double>(grad[i]);
      accounted += static_cast<double>(run.sums[step].front()[i]);
    }
    for (const Numbers& residual : run.residuals.back()) accounted += static_cast<double>(residual[i]);
    lost += std::abs(computed - accounted) <= rounding ? 0 : 1;
  }
  return lost;
}

/// Distance of the weights from the optimum, in thousandths of what it was at first, where they were 0.
Count thousandths_left(const CheckContext& check) {
  const Output* output = check.output("weights in the end");
  const std::vector<double> optimum = optimum_of(check.kase());
  if (output == nullptr || output->values.size() < optimum.size()) return 2 * static_cast<Count>(kThousand);
  double left = 0, first = 0;
  for (std::size_t i = 0; i < optimum.size(); ++i) {
    left += std::pow(static_cast<double>(output->values[i]) - optimum[i], 2);
    first += optimum[i] * optimum[i];
  }
  return static_cast<Count>(std::min(std::sqrt(left / first), 1e6) * kThousand);
}

/// The largest share of what was owed that a rank has kept in a step, as squares of norms.
Count largest_share_kept(const Run& run) {
  double largest = 0;
  for (std::size_t step = 0; step < run.steps(); ++step) {
    const std::vector<Numbers> before = run.owed_before(step);
    for (std::size_t rank = 0; rank < before.size(); ++rank) {
      Numbers owed = run.grads[step][rank];
      for (std::size_t i = 0; i < owed.size(); ++i) owed[i] += before[rank][i];
      if (norm(owed) > 0) largest = std::max(largest, std::pow(norm(run.residuals[step][rank]) / norm(owed), 2));
    }
  }
  return static_cast<Count>(std::floor(std::min(largest, 1e6) * kThousand));
}

// ---- Costs ----

struct Cost {
  explicit Cost(const Case& kase)
      : n(named("N", Count(kase.ranks))),
        k(named("k", kase.integer("k"))),
        steps(named("steps", Count(kase.steps))),
        elements(kase.integer("elements")),
        kase_(kase) {}
  Formula<Count> n, k, steps;
  Count elements;

  /// Values and places, 4 bytes each, to all others.
  Formula<Bytes> sent() const { return steps * largest_sent(kase_.integer("k"), kase_.ranks); }
  Formula<Bytes> all_reduced() const {
    const Formula<Bytes> gradient = named("gradient", Bytes(elements * kBytesOfF32));
    return steps * (2 * (share_of_others(n) * gradient));
  }
  Formula<Nanos> time() const {
    const front::LinkSpeed& link = kase_.cluster.links.front();
    const auto part = static_cast<double>(kase_.integer("k") * kBytesOfF32) / link.bytes_per_second * 1e9;
    const Formula<Nanos> hop = named("alpha", link.latency) + named("4 k bytes / W", Nanos(std::llround(part)));
    return steps * (2 * (folded(n - 1) * hop));
  }
  Formula<Bytes> peak() const {
    const Count records = kase_.integer("recorded") != 0 ? 3 * kase_.steps : 0,
                data = is_pulled(kase_) ? 1 : kase_.steps;
    const Formula<Bytes> vector = named("4 n", Bytes(elements * kBytesOfF32));
    return 3 * vector + named("data and records", Bytes((records + data) * elements * kBytesOfF32)) + buffers();
  }
  Formula<Bytes> buffers() const {
    const Formula<Count> senders = folded(n + named("1", Count{1}));
    return senders * (k * Formula<Bytes>(Bytes(2 * kBytesOfF32)));
  }

 private:
  const Case& kase_;
};

void diagnose_bytes(CheckContext& check, int rank) {
  const Cost cost(check.kase());
  const front::Counters& counters = check.counters(rank);
  if (counters.calls(Collective::all_reduce) > 0) {
    return check.diagnose(counters.calls(Collective::all_gather) > 0 && counters.bytes_sent() > cost.sent().value()
                              ? "reduced_beside"
                              : "dense_sum");
  }
  const Bytes whole = (check.ranks() - 1) * Bytes(cost.elements * kBytesOfF32);
  if (counters.bytes_sent(Collective::all_gather) >= check.kase().steps * whole) {
    check.diagnose("whole_gathered");
  }
}

/// Only collectives send.
bool sends_nothing_itself(CheckContext& check, int rank) {
  const std::vector<front::Event> sends = check.events(rank, front::EventKind::send);
  return check.exactly("sends of " + check.name_of(rank) + " beside its collectives", static_cast<Count>(sends.size()),
                       named("none", Count{0}), "sends");
}

}  // namespace

SHARDLINGS_CHECK(sum) {
  hold_to_rule(check, "sums", &StepOfRanks::sums);
}

SHARDLINGS_CHECK(residual) {
  const Run run = run_of(check);
  const Count n = check.kase().integer("elements"), k = check.kase().integer("k");
  const Count bound = static_cast<Count>(kThousand) * (n - k) / n;
  if (run.residuals.size() != run.steps()) return;
  if (!check.at_most("what a rank goes on owing", largest_share_kept(run),
                     named("(n - k)/n of the square of what it owed", bound), "thousandths")) {
    check.detail(fmt::format("in some step the sum of all squares was {:.3f} times that of what the rank owed",
                             static_cast<double>(largest_share_kept(run)) / kThousand));
    return diagnose(check, run);
  }
  hold_to_rule(check, "residuals", &StepOfRanks::residuals);
}

SHARDLINGS_CHECK(long_run) {
  constexpr double kRounding = 1e-3;  // of sums of some dozens of numbers below 1, in f32
  const Run run = run_of(check);
  if (run.sums.size() != run.steps() || run.residuals.size() != run.steps()) return;
  if (is_pulled(check.kase())) {
    constexpr Count kEighth = 125;
    if (!check.at_most("distance of the weights from the optimum", thousandths_left(check),
                       named("an eighth of the first distance", kEighth), "thousandths")) {
      diagnose(check, run);
    }
    return;
  }
  if (!check.exactly("elements of which something is lost, or counted twice",
                     lost_elements(run, is_rounded(check.kase()) ? kRounding : 0), named("none", Count{0}),
                     "elements")) {
    diagnose(check, run);
  }
}

SHARDLINGS_CHECK(communication) {
  const Cost cost(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!sends_nothing_itself(check, rank)) return check.diagnose("own_sends");
    if (!sends_exactly(check, rank, cost.sent())) return diagnose_bytes(check, rank);
    if (!operations_at_most(check, rank, 2 * cost.steps)) return check.diagnose("too_many_calls");
  }
}

SHARDLINGS_CHECK(memory) {
  const Cost cost(check.kase());
  if (!nothing_on_host(check)) return;
  if (check.peaks_at_most(cost.peak())) return;
  const Bytes excess = check.peak(check.worst_rank()) - cost.peak().value();
  check.diagnose(excess + cost.buffers().value() >= Bytes(cost.elements * kBytesOfF32) ? "copy_of_the_gradient"
                                                                                       : "sent_kept_twice");
}

/// In each step the places are looked for among all that is owed.
SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  return {{Product::top_k, Flops(2 * check.kase().steps * check.kase().integer("elements"))}};
}

SHARDLINGS_PREDICTIONS("4 ranks") {
  const Cost cost(predict.kase());
  predict.sent("sent", 0, "How many bytes does each rank send in all steps?", cost.sent())
      .unlike(cost.sent() / Formula<Count>(2), "Values alone say nothing: nobody knows where they belong.")
      .unlike(cost.all_reduced(), "That is an all-reduce of the whole gradient.");
  predict.end("time", "When does the run end? Operations of the device take no time.", cost.time())
      .unlike(cost.time() / Formula<Count>(2), "There are two collectives in a step.");
  predict
      .count("even", "From how many elements k on do the gathers send as much as an all-reduce of the whole gradient?",
             largest_even(cost.elements, predict.kase().ranks), "elements")
      .unlike(named("n", cost.elements) / Formula<Count>(2), "That is what values and places take of a rank's memory.")
      .unlike(named("n", cost.elements),
              "A ring sends 2 (N-1)/N of a gradient. A gather sends all that it has N-1 times.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 ranks") {
  const Formula<Count> n = named("N", Count{64});
  const Formula<Bytes> gradient = named("gradient", Bytes(4'000'000'000));
  const Formula<Bytes> sent = folded(n - 1) * named("values and places", Bytes(8'000'000));
  predict.answer(1)
      .number("gathered", "n = 10^9 and k = 10^6, a thousandth, on 64 ranks. How many bytes does each of them send?",
              sent)
      .unlike(folded(n - 1) * named("values", Bytes(4'000'000)), "A value without its place is no use.")
      .unlike(2 * (folded(n - 1) / n * gradient) / Formula<Count>(1000),
              "A thousandth of an all-reduce would be nice: but nothing is added up on the way.");
  predict.answer(1)
      .number("reduced", "And how many would it send in an all-reduce of all elements?",
              2 * (folded(n - 1) / n * gradient))
      .unlike(folded(n - 1) * gradient, "That is a gather of all gradients.");
}

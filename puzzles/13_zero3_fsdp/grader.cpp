// Judges ZeRO-3: numbers of one device, two units of weights and of gradients, everything but the ends hidden.

#include "grading/judge/grader.h"

#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/gathered_units.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/formulas/step_cost.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::EventKind;

namespace {

constexpr int kZero = 3;

void diagnose_gradients(CheckContext& check) {
  const Case& kase = check.kase();
  const Layers& right = check.reference().grads;
  const Layers found = found_layers(check.result(), "grads");
  if (found.size() != right.size()) return;
  if (!all_finite(found)) return check.diagnose("gradient_not_zeroed");
  const std::optional<double> ratio = constant_ratio(found, right);
  if (ratio == 0) return check.diagnose("parts_untouched");
  const bool reduced_before = check.counters(0).calls(Collective::all_reduce) >= number_of_layers(kase);
  if (kase.ranks > 1 && near(ratio, kase.ranks) && reduced_before) return check.diagnose("reduced_twice");
  const Layers means = gradient_of_micro(kase, 0, true);
  const bool first_step = kase.steps == 1;
  if (first_step && alike(found, means) && !near(ratio, 1)) return check.diagnose("own_tokens");
  if (first_step && kase.uneven_tokens && alike(found, scaled(means, 1.0 / kase.ranks))) {
    return check.diagnose("mean_of_means");
  }
  if (kase.ranks > 1 && near(ratio, 1.0 / kase.ranks)) return check.diagnose("averaged");
  if (kase.ranks > 1 && alike(found, from_parts(kase, check.reference().local_grads)))
    return check.diagnose("not_reduced");
  const auto tokens = static_cast<double>(tokens_of_step(kase));
  const auto targets = static_cast<double>(kase.ranks * kase.batch * kase.model.sequence);
  if (tokens != targets && near(ratio, tokens / targets)) check.diagnose("padding_counted");
}

/// The gradients are right, and the weights are not.
void diagnose_weights(CheckContext& check) {
  const Layers change = combine(check.reference().weights_before, -1, found_layers(check.result(), "weights"));
  if (constant_ratio(change, check.reference().grads) == 0) return check.diagnose("never_updated");
  const std::int64_t updates = number_of_layers(check.kase()) * check.kase().steps;
  if (count_of(check, EventKind::update) >= 2 * updates) check.diagnose("updated_twice");
}

void diagnose_memory(CheckContext& check, int rank) {
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  diagnose_unit_memory(check, check.kase(), rank);
}

void diagnose_bytes(CheckContext& check, int rank) {
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  if (check.ranks() == 1) return;
  const std::string mistake = unit_calls_mistake(check, rank, check.kase());
  if (!mistake.empty()) return check.diagnose(mistake);
  check.diagnose(gathered_too_often(check, rank));
}

Formula<Nanos> time_budget(const Case& kase) {
  const Letters letter(kase);
  const Nanos end(ring_times(kase).front());
  return in_all_steps(
      kase, named("first all-gather", end) + letter.l * (letter.f + letter.b) + named("last reduce-scatter", end));
}

void diagnose_time(CheckContext& check, int rank) {
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  if (computes_twice(check, rank)) return check.diagnose("computed_twice");
  const std::string mistake = unit_time_mistake(check, rank);
  check.diagnose(mistake.empty() ? "started_late" : mistake);
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) return diagnose_gradients(check);
  if (!check.equal_layers("weights", expected.weights, expected.weights_tolerance)) return diagnose_weights(check);
  if (!equal_moments(check)) return;
  if (!equal_loss_shares(check) && whole_loss_everywhere(check)) check.diagnose("loss_reduced");
}

SHARDLINGS_CHECK(memory) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Formula<Bytes> peak = step_peak(check.kase(), rank, kZero).formula();
    if (!check.peak_at_most(rank, peak) || !holds_two_units(check, check.kase(), rank)) {
      return diagnose_memory(check, rank);
    }
  }
  nothing_on_host(check);
}

SHARDLINGS_CHECK(communication) {
  const Case& kase = check.kase();
  const Formula<Count> l = Letters(kase).l;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const bool right = sends_at_most(check, rank, in_all_steps(kase, step_bytes(kase, rank, kZero))) &&
                       gathers_by_layer(check, rank) &&
                       calls_exactly(check, rank, Collective::reduce_scatter, in_all_steps(kase, l));
    if (!right) return diagnose_bytes(check, rank);
  }
}

SHARDLINGS_CHECK(time) {
  if (!finishes_within(check, time_budget(check.kase()))) diagnose_time(check, check.slowest_rank());
}

SHARDLINGS_PREDICTIONS("4 ranks") {
  const Case& kase = predict.kase();
  const Letters letter(kase);
  const StepPeak peak = step_peak(kase, 0, kZero);
  const Formula<Bytes> weights = named("weights", Bytes(weight_bytes(layer_bytes(kase))));
  const Formula<Nanos> computing = letter.l * (letter.f + letter.b);
  StepPeak alone = peak;  // nothing is on its way
  alone.gathered_weights = layer_bytes(kase)[peak.layer].weights;
  alone.unreduced = alone.gathered_weights;
  predict.sent("sent", 0, "How many bytes does each rank send in the step?", step_bytes(kase, 0, kZero))
      .unlike(3 * (share_of_others(letter.n) * weights),
              "The last layer goes backward right after its forward: its weights are still there.")
      .unlike(2 * (share_of_others(letter.n) * weights),
              "Weights are gathered for forward, and once more for backward; gradients are scattered.");
  predict.end("time", "When does the step end, with everything hidden that can be?", time_budget(kase))
      .unlike(computing,
              "Before the first forward the first weights have to come, and after the last backward the last "
              "gradient has to leave.")
      .unlike(computing + named("last reduce-scatter", Nanos(ring_times(kase).front())),
              "Nothing hides the all-gather of the first layer, either.");
  predict.peak("peak", 0, "How many bytes of device memory are alive on a rank at the worst moment?", peak.formula())
      .unlike(alone.formula(),
              "Those are the weights and the gradient of the layer at work. What is on its way is there, "
              "too: the weights of the layer below, and the gradient of the layer above.")
      .unlike(step_peak(kase, 0, 2).formula(), "That is ZeRO-2, with all weights whole.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 ranks") {
  const Formula<Count> n = named("N", 512);
  const Formula<Bytes> per_latency = named("alpha BW", Bytes(480'000));
  predict.answer(3)
      .number(
          "unit",
          "On 512 ranks, with a latency of 9.6 us and 50 GB/s: how many bytes has a unit for which the latencies of "
          "a gather and its transfer take the same time?",
          n * per_latency)
      .unlike(per_latency, "In each of N-1 steps a rank sends an N-th of the unit.")
      .unlike(2 * (n * per_latency), "A gather goes round the ring once.");
}

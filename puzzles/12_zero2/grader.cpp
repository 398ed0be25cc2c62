// Judges ZeRO-2: numbers of one device, parts of gradients, two buckets, hidden reduce-scatters.

#include "grading/judge/grader.h"

#include <algorithm>

#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/formulas/step_cost.h"
#include "grading/judge/most_of_products.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::EventKind;

namespace {

constexpr int kZero = 2;

/// The sum over micro-batches and ranks of what one with a denominator of its own would have.
Layers sum_of_means(const Case& kase) {
  Layers sum = gradient_of_micro(kase, 0, true);
  for (int micro = 1; micro < kase.micro_batches; ++micro) sum = combine(sum, 1, gradient_of_micro(kase, micro, true));
  return sum;
}

/// The sum over all micro-batches but the last: zeros if there is one.
Layers without_last_micro(const Case& kase) {
  Layers sum = scaled(gradient_of_micro(kase, 0), 0);
  for (int micro = 0; micro + 1 < kase.micro_batches; ++micro) sum = combine(sum, 1, gradient_of_micro(kase, micro));
  return sum;
}

/// Some layers are right, and the others have nothing at all, or nothing of the last micro-batch.
bool some_layers_missing(const Case& kase, const Layers& found, const Layers& right) {
  const Layers before = without_last_micro(kase);
  const bool told = kase.steps == 1;  // else the last step's gradients are not at the first weights
  std::size_t missing = 0;
  for (std::size_t l = 0; l < right.size(); ++l) {
    const bool lacks_last = told && kase.micro_batches > 1 && alike(Layers{found[l]}, Layers{before[l]});
    if (lacks_last || constant_ratio(Layers{found[l]}, Layers{right[l]}) == 0) {
      ++missing;
    } else if (!alike(Layers{found[l]}, Layers{right[l]})) {
      return false;
    }
  }
  return missing > 0 && missing < right.size();
}

/// What all ranks have put into `loss`, as a multiple of the right loss.
double loss_ratio(const CheckContext& check) {
  const Output* output = check.output("loss by rank");
  double sum = 0;
  for (std::size_t r = 0; output != nullptr && r < output->values.size(); ++r) sum += output->values[r];
  return sum / check.reference().loss;
}

/// The parts of rank 0 are right, and those of the others are not.
bool only_first_parts_right(const Case& kase, const Layers& found, const Layers& right) {
  const auto of_first = [&](const Layers& layers) {
    std::vector<Layers> parts(static_cast<std::size_t>(kase.ranks), scaled(right, 0));
    parts.front() = layers;
    return from_parts(kase, parts);
  };
  return kase.ranks > 1 && alike(of_first(found), of_first(right)) && !alike(found, right);
}

/// Mistakes that show in one micro-batch among several.
bool diagnose_micro_batches(CheckContext& check, const Layers& found) {
  const Case& kase = check.kase();
  if (kase.micro_batches == 1 || kase.steps > 1) return false;
  if (alike(found, gradient_of_micro(kase, kase.micro_batches - 1))) {
    check.diagnose("overwritten");
    return true;
  }
  if (alike(found, gradient_of_micro(kase, 0))) {
    check.diagnose("first_micro_batch_only");
    return true;
  }
  return false;
}

void diagnose_gradients(CheckContext& check) {
  const Case& kase = check.kase();
  const Layers& right = check.reference().grads;
  const Layers found = found_layers(check.result(), "grads");
  if (found.size() != right.size()) return;
  if (!all_finite(found)) return check.diagnose("bucket_not_zeroed");
  const std::optional<double> ratio = constant_ratio(found, right);
  const bool like_loss = near(ratio, loss_ratio(check));
  if (ratio == 0) return check.diagnose("parts_untouched");
  if (kase.ranks > 1 && near(ratio, 1.0 / kase.ranks) && !like_loss) return check.diagnose("averaged");
  const bool reduced_before = check.counters(0).calls(Collective::all_reduce) >= number_of_layers(kase);
  if (kase.ranks > 1 && near(ratio, kase.ranks) && reduced_before) return check.diagnose("reduced_twice");
  if (kase.ranks > 1 && alike(found, from_parts(kase, check.reference().local_grads)))
    return check.diagnose("not_reduced");
  if (diagnose_micro_batches(check, found)) return;
  const Layers own_twice = combine(right, 1, from_parts(kase, check.reference().local_grads));
  if (kase.ranks > 1 && kase.steps == 1 && alike(found, own_twice)) return check.diagnose("own_counted_twice");
  if (some_layers_missing(kase, found, right)) return check.diagnose("layer_missing");
  const Layers means = sum_of_means(kase);
  const bool told = !near(ratio, kase.micro_batches);  // else equal tokens could be counted too often as well
  if (kase.steps == 1 && told && alike(found, means)) return check.diagnose("own_tokens");
  if (kase.steps == 1 && alike(found, scaled(means, 1.0 / kase.ranks))) return check.diagnose("mean_of_means");
  const auto tokens = static_cast<double>(tokens_of_step(kase));
  const auto targets = static_cast<double>(kase.ranks * kase.micro_batches * kase.batch * kase.model.sequence);
  if (tokens != targets && near(ratio, tokens / targets)) return check.diagnose("padding_counted");
  if (only_first_parts_right(kase, found, right)) return check.diagnose("wrong_stretch");
  const std::int64_t once = number_of_layers(kase) * kase.steps;
  const bool scattered_once = check.counters(0).calls(Collective::reduce_scatter) == once;
  if (kase.ranks > 1 && kase.micro_batches > 1 && scattered_once) check.diagnose("scattered_once");
}

/// Bytes beyond what is needed when backward of layer 0 has ended for the first time: planned are one input and its
/// gradient, and the buckets of layers 0 and 1.
std::int64_t left_over(const CheckContext& check, int rank) {
  const std::vector<LayerBytes> layers = layer_bytes(check.kase());
  const auto backwards = check.events(rank, EventKind::backward);
  if (backwards.size() < layers.size()) return 0;
  const StepPeak there = step_peak(check.kase(), rank, kZero);
  const std::int64_t planned = there.weights + there.gradients + there.optimizer + there.batch + layers[0].input +
                               layers[0].input_gradient + layers[0].weights + layers[1].weights;
  return backwards[layers.size() - 1].live_after.value() - planned;
}

/// Gradients beyond two buckets at the peak.
bool third_bucket(const CheckContext& check, int rank, const std::vector<LayerBytes>& layers) {
  std::int64_t two = layers.front().weights + layers.back().weights;
  for (std::size_t l = 1; l < layers.size(); ++l) two = std::max(two, layers[l - 1].weights + layers[l].weights);
  const auto kind = static_cast<std::size_t>(Kind::gradient);
  return check.counters(rank).peak_by_kind[kind].value() > sum_of(part_bytes(check.kase(), rank)) + two;
}

/// Gradients beside this rank's parts after the first call of `kind`; 0 if that cannot be told.
std::int64_t gradients_after_first(const CheckContext& check, int rank, EventKind kind) {
  const auto calls = check.events(rank, kind);
  const auto kinds = calls.empty() ? std::nullopt : alive_after(check, rank, calls.front());
  if (!kinds) return 0;
  return (*kinds)[static_cast<std::size_t>(Kind::gradient)].value() - sum_of(part_bytes(check.kase(), rank));
}

/// Gradients beside this rank's parts when nothing has gone backward.
std::int64_t gradients_before_backward(const CheckContext& check, int rank) {
  return gradients_after_first(check, rank, EventKind::forward);
}

/// What the first backward fills is as long as its layer, and all that there is.
bool first_bucket_fits(const CheckContext& check, int rank) {
  return gradients_after_first(check, rank, EventKind::backward) <= layer_bytes(check.kase()).back().weights;
}

Formula<Bytes> wire_bytes(const Case& kase, int rank) {
  return in_all_steps(kase,
                      step_bytes(kase, rank, kZero) + named("the norm", Bytes(all_reduce_bytes_of_one(kase, rank))));
}

/// What the calls and their bytes tell for certain; "" if nothing.
std::string mistake_of_calls(const CheckContext& check, int rank) {
  const Case& kase = check.kase();
  const front::Counters& counters = check.counters(rank);
  const std::int64_t layers = number_of_layers(kase) * kase.steps, buckets = layers * kase.micro_batches;
  const std::int64_t scatters = counters.calls(Collective::reduce_scatter);
  if (whole_batch_everywhere(check, rank)) return "whole_batch_everywhere";
  if (counters.layer_forwards < buckets) return "micro_batches_together";
  if (kase.ranks == 1) return "";
  const Bytes scattered(kase.steps * kase.micro_batches * sum_of(reduce_scatter_bytes(kase, rank)));
  if (cut_into_pieces(check, rank, Collective::reduce_scatter, buckets, scattered)) return "in_pieces";
  if (scatters < buckets && counters.calls(Collective::all_reduce) >= layers) return "all_reduced";
  if (scatters == 0 && counters.calls(Collective::reduce) > 0) return "part_by_part";
  const std::int64_t collected =
      counters.calls(Collective::all_to_all) + counters.calls(Collective::all_gather) - layers;
  if (scatters == 0 && collected >= layers) return "gathered";
  return counters.calls(Collective::all_gather) > layers && scatters == buckets ? "weights_gathered_again" : "";
}

void diagnose_memory(CheckContext& check, int rank) {
  const std::vector<LayerBytes> layers = layer_bytes(check.kase());
  const std::string mistake = mistake_of_calls(check, rank);
  if (!mistake.empty()) return check.diagnose(mistake);
  const std::int64_t excess = left_over(check, rank);
  std::int64_t gradients = 0;  // of the layers that should be done with
  for (std::size_t l = 2; l < layers.size(); ++l) gradients += layers[l].weights;
  if (keeps_inputs(check, rank)) return check.diagnose("activations_kept");
  const bool part = layers.size() > 1 && excess == part_bytes(check.kase(), rank)[1];
  const bool told = check.ranks() > 1;  // alone, a rank's part is as long as a bucket
  if (part && told && first_bucket_fits(check, rank)) return check.diagnose("part_copied");
  const std::int64_t early = gradients_before_backward(check, rank);
  if (early == weight_bytes(layers)) return check.diagnose("gradients_kept");  // a bucket for each layer, all the time
  if (early > 0) return check.diagnose("buckets_made_early");
  if (!third_bucket(check, rank, layers)) return;
  const bool kept = first_bucket_fits(check, rank) && excess >= gradients && gradients > 0;
  check.diagnose(kept ? "gradients_kept" : "bucket_kept");
}

/// m L (F + B), the reduce-scatter of layer 0, then the norm and all all-gathers, which nothing hides.
Formula<Nanos> time_budget(const Case& kase) {
  const Letters letter(kase);
  return in_all_steps(kase, letter.m * letter.l * (letter.f + letter.b) +
                                named("reduce-scatter of layer 0", Nanos(ring_times(kase).front())) +
                                named("norm", Nanos(all_reduce_time_of_one(kase))) +
                                named("all-gathers", Nanos(sum_of(ring_times(kase)))));
}

LateCall late_scatter(const CheckContext& check, int rank) {
  return first_late(collectives(check, rank, Collective::reduce_scatter), check.events(rank, EventKind::backward));
}

void diagnose_time(CheckContext& check, int rank) {
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  if (computes_twice(check, rank)) return check.diagnose("computed_twice");
  if (!check.events(rank, EventKind::copy).empty()) return check.diagnose("parked_on_host");
  if (check.ranks() == 1) return;  // no way to be hidden
  const auto backwards = check.events(rank, EventKind::backward);
  const auto scatters = collectives(check, rank, Collective::reduce_scatter);
  if (backwards.empty() || scatters.empty()) return;
  if (!overlaps(scatters, backwards)) return check.diagnose("waited_at_once");
  check.diagnose(late_scatter(check, rank) ? "started_late" : "waited_too_early");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) return diagnose_gradients(check);
  if (!equal_moments(check)) return;
  if (!check.equal_layers("weights", expected.weights, expected.weights_tolerance)) return;
  if (!equal_loss_shares(check) && whole_loss_everywhere(check)) check.diagnose("loss_reduced");
}

SHARDLINGS_CHECK(memory) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Formula<Bytes> peak = step_peak(check.kase(), rank, kZero).formula();
    if (!check.peak_at_most(rank, peak)) return diagnose_memory(check, rank);
  }
  nothing_on_host(check);
}

SHARDLINGS_CHECK(communication) {
  const Case& kase = check.kase();
  const Letters letter(kase);
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const bool right =
        calls_exactly(check, rank, Collective::reduce_scatter, in_all_steps(kase, letter.m * letter.l)) &&
        sends_at_most(check, rank, wire_bytes(kase, rank));
    if (right) continue;
    const std::string mistake = mistake_of_calls(check, rank);
    if (!mistake.empty()) check.diagnose(mistake);
    return;
  }
}

SHARDLINGS_CHECK(time) {
  const int rank = check.slowest_rank();
  if (!finishes_within(check, time_budget(check.kase()), late_scatter(check, rank).place)) diagnose_time(check, rank);
}

/// A norm of every weight in each step, and every gradient times its factor; squares twice, as ranks may all have them.
SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  const model::ModelStructure structure = model::make_structure(check.kase().model);
  const Count steps = check.kase().steps, layers = std::ssize(structure.layers);
  return {{Product::add_squares, Flops(2 * 2 * steps * structure.total)},
          {Product::clip_factor, Flops(2 * steps * layers)},
          {Product::scale_by, Flops(steps * structure.total)}};
}

SHARDLINGS_PREDICTIONS("4 ranks, 2 micro-batches") {
  const Case& kase = predict.kase();
  const Letters letter(kase);
  const Formula<Bytes> weights = named("weights", Bytes(weight_bytes(layer_bytes(kase))));
  const StepPeak peak = step_peak(kase, 0, kZero);
  predict
      .sent("sent", 0, "How many bytes does each rank send in the step, with the few of the norm?", wire_bytes(kase, 0))
      .unlike(
          2 * (share_of_others(letter.n) * weights),
          "The gradient of every micro-batch travels, since a rank cannot add to parts that it does not hold; and in "
          "the end the new weights are gathered.")
      .unlike((letter.m + 1) * weights, "Of N parts a rank sends N-1 each time: it keeps one.");
  predict
      .peak("peak", 0,
            "How many bytes of device memory are alive on rank 0 at the worst moment, if a bucket is waited for only "
            "when "
            "the next one is filled?",
            peak.formula())
      .unlike(step_peak(kase, 0, 1).formula(), "That is ZeRO-1, with the whole gradient on every rank.")
      .unlike(peak.formula() - Formula<Bytes>(Bytes(peak.optimizer)),
              "Adam's moments of this rank's parts are missing: two for each weight.")
      .unlike(peak.formula() - Formula<Bytes>(Bytes(peak.gradients)),
              "This rank's parts of the gradient are missing. They are there beside the buckets.")
      .unlike(peak.formula() - named("bucket on its way", Bytes(layer_bytes(kase).front().weights)),
              "The bucket on its way is missing: that of layer 0, from the micro-batch before.");
  predict.end("time", "When does the step end, with everything hidden that can be?", time_budget(kase))
      .unlike(letter.m * letter.l * (letter.f + letter.b),
              "After the last backward come the reduce-scatter of layer 0, the norm, and the all-gathers.")
      .unlike(time_budget(kase) - named("reduce-scatter of layer 0", Nanos(ring_times(kase).front())),
              "The last reduce-scatter is missing: that of layer 0 has no computation to hide behind.")
      .unlike(letter.m * letter.l * (letter.f + letter.b) + Formula<Nanos>(Nanos(ring_times(kase).front())),
              "The all-gathers are missing: no weight may change before the norm of all gradients is known, so nothing "
              "hides them.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 ranks, 2 micro-batches") {
  Case kase = predict.kase();
  const auto times_zero1 = [&](int zero) { return step_bytes(kase, 0, zero).value() / step_bytes(kase, 0, 1).value(); };
  for (kase.micro_batches = 1; times_zero1(2) < 2;) ++kase.micro_batches;
  predict.answer(1)
      .count("m", "For which m does ZeRO-2 send twice as much as ZeRO-1?", named("m", Count(kase.micro_batches)),
             "micro-batches")
      .unlike(2, "That makes two reduce-scatters and one gather, against one of each.")
      .unlike(4, "That makes four reduce-scatters and one gather, against one of each.");
}

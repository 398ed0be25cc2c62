// Judges ZeRO-2: numbers of one device, parts of gradients, two buckets, hidden reduce-scatters.

#include "grading/judge/grader.h"

#include <algorithm>

#include "case/data.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/formulas/step_cost.h"

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

/// Some layers are right, and the others have nothing at all.
bool some_layers_missing(const Layers& found, const Layers& right) {
  std::size_t missing = 0;
  for (std::size_t l = 0; l < right.size(); ++l) {
    if (constant_ratio(Layers{found[l]}, Layers{right[l]}) == 0) {
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
  if (near(ratio, 1.0 / kase.ranks) && !like_loss) return check.diagnose("averaged");
  const bool reduced_before = check.counters(0).calls(Collective::all_reduce) >= number_of_layers(kase);
  if (near(ratio, kase.ranks) && reduced_before) return check.diagnose("reduced_twice");
  if (alike(found, from_parts(kase, check.reference().local_grads))) return check.diagnose("not_reduced");
  if (diagnose_micro_batches(check, found)) return;
  if (some_layers_missing(found, right)) return check.diagnose("layer_missing");
  const Layers means = sum_of_means(kase);
  if (kase.steps == 1 && alike(found, means)) return check.diagnose("own_tokens");
  if (kase.steps == 1 && alike(found, scaled(means, 1.0 / kase.ranks))) return check.diagnose("mean_of_means");
  const auto tokens = static_cast<double>(tokens_of_step(kase));
  const auto targets = static_cast<double>(kase.ranks * kase.micro_batches * kase.batch * kase.model.sequence);
  if (near(ratio, tokens / targets)) return check.diagnose("padding_counted");
  if (only_first_parts_right(kase, found, right)) check.diagnose("wrong_stretch");
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

void diagnose_memory(CheckContext& check, int rank) {
  const std::vector<LayerBytes> layers = layer_bytes(check.kase());
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  const std::int64_t excess = left_over(check, rank);
  std::int64_t gradients = 0, inputs = 0;  // of the layers that should be done with
  for (std::size_t l = 1; l < layers.size(); ++l) {
    if (l > 1) gradients += layers[l].weights;
    inputs += layers[l].input;
  }
  if (excess == part_bytes(check.kase(), rank)[1]) return check.diagnose("part_copied");
  if (excess == inputs) return check.diagnose("activations_kept");
  if (excess >= gradients && gradients > 0) return check.diagnose("gradients_kept");
  if (third_bucket(check, rank, layers)) check.diagnose("bucket_kept");
}

Formula<Bytes> wire_bytes(const Case& kase, int rank) {
  return in_all_steps(kase,
                      step_bytes(kase, rank, kZero) + named("the norm", Bytes(all_reduce_bytes_of_one(kase, rank))));
}

void diagnose_bytes(CheckContext& check, int rank) {
  const front::Counters& counters = check.counters(rank);
  const std::int64_t layers = number_of_layers(check.kase()) * check.kase().steps;
  if (counters.calls(Collective::all_gather) > layers) return check.diagnose("gathered");
  if (counters.calls(Collective::all_reduce) >= layers) return check.diagnose("all_reduced");
  if (counters.calls(Collective::reduce) > 0) check.diagnose("all_reduced");
}

/// m L (F + B), the reduce-scatter of layer 0, then the norm and all all-gathers, which nothing hides.
Formula<Nanos> time_budget(const Case& kase) {
  const Letters letter(kase);
  return in_all_steps(kase, letter.m * letter.l * (letter.f + letter.b) +
                                named("reduce-scatter of layer 0", Nanos(ring_times(kase).front())) +
                                named("norm", Nanos(all_reduce_time_of_one(kase))) +
                                named("all-gathers", Nanos(sum_of(ring_times(kase)))));
}

void diagnose_time(CheckContext& check, int rank) {
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  const auto backwards = check.events(rank, EventKind::backward);
  const auto scatters = collectives(check, rank, Collective::reduce_scatter);
  if (backwards.empty() || scatters.empty()) return;
  if (!overlaps(scatters, backwards)) return check.diagnose("waited_at_once");
  check.diagnose("started_late");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) return diagnose_gradients(check);
  if (!equal_moments(check)) return;
  if (!check.equal_layers("weights", expected.weights, expected.weights_tolerance)) return;
  equal_loss_shares(check);
}

SHARDLINGS_CHECK(memory) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Formula<Bytes> peak = step_peak(check.kase(), rank, kZero).formula();
    if (!check.peak_at_most(rank, peak)) return diagnose_memory(check, rank);
  }
}

SHARDLINGS_CHECK(communication) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!sends_at_most(check, rank, wire_bytes(check.kase(), rank))) return diagnose_bytes(check, rank);
  }
}

SHARDLINGS_CHECK(time) {
  if (!finishes_within(check, time_budget(check.kase()))) diagnose_time(check, check.slowest_rank());
}

// Judges gradient accumulation: numbers of the whole batch, memory of one micro-batch, no work done twice.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include "case/data.h"
#include "grading/formulas/training.h"
#include "grading/reference/trainer.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::EventKind;

namespace {

/// Gradient of micro-batch i alone, as its part of a step of `tokens` tokens.
Layers micro_gradient(const Case& kase, int i, Count tokens) {
  const Layers weights = reference::initial_weights<double>(kase);
  Layers grads = scaled(weights, 0);
  reference::train_micro(kase, micro_of(kase, 0, i), tokens, weights, grads);
  return grads;
}

/// The sum of the micro-batches' means.
Layers sum_of_means(const Case& kase) {
  Layers sum = micro_gradient(kase, 0, micro_of(kase, 0, 0).tokens);
  for (int i = 1; i < kase.micro_batches; ++i) {
    sum = combine(sum, 1, micro_gradient(kase, i, micro_of(kase, 0, i).tokens));
  }
  return sum;
}

/// Mistakes about how the micro-batches are put together. `found` is the gradient that was published.
void diagnose_sum(CheckContext& check, const Layers& found) {
  const Case& kase = check.kase();
  const Layers means = sum_of_means(kase);
  if (alike(found, scaled(means, 1.0 / kase.micro_batches))) return check.diagnose("mean_of_means");
  if (alike(found, means)) return check.diagnose("sum_of_means");
  for (int i = kase.micro_batches - 1; i >= 0; --i) {
    const Layers part = micro_gradient(kase, i, tokens_of_step(kase));
    if (i == kase.micro_batches - 1 && alike(found, part)) return check.diagnose("only_last_micro_batch");
    if (alike(found, combine(check.reference().grads, -1, part))) return check.diagnose("micro_batch_skipped");
  }
}

void diagnose_output(CheckContext& check) {
  const Case& kase = check.kase();
  const std::int64_t updates = count_of(check, EventKind::update);
  if (updates == 0) return check.diagnose("never_updated");
  if (updates > number_of_layers(check.kase())) return check.diagnose("update_per_micro_batch");
  const Layers found = found_layers(check.result(), "grads");
  const std::optional<double> ratio = constant_ratio(found, check.reference().grads);
  const auto tokens = static_cast<double>(tokens_of_step(kase));
  const auto targets = static_cast<double>(kase.micro_batches * kase.batch * kase.model.sequence);
  if (near(ratio, 1)) return;
  if (near(ratio, 1.0 / kase.micro_batches)) return check.diagnose("divided_by_m_again");
  if (near(ratio, tokens / targets)) return check.diagnose("padding_counted");
  diagnose_sum(check, found);
}

/// While backward of layer l runs, the activations of layers 0 to l are alive, of one micro-batch. Forward needs less.
Formula<Bytes> budget(const Case& kase) {
  const std::vector<LayerBytes> layers = layer_bytes(kase);
  const Bytes weights(weight_bytes(layers));
  const Formula<Bytes> standing =
      named("weights", weights) + named("gradients", weights) + named("batch and loss", Bytes(batch_bytes(kase) + 4));
  Formula<Bytes> peak = Bytes(0);
  std::int64_t kept = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    kept += layers[l].input + layers[l].saved;
    const Formula<Bytes> bytes =
        standing + named(fmt::format("activations of layers 0-{} for one micro-batch", l), Bytes(kept)) +
        named(fmt::format("what backward of layer {} needs", l), Bytes(layers[l].backward - layers[l].saved));
    if (bytes.value() >= peak.value()) peak = bytes;
  }
  return peak;
}

void diagnose_calls(CheckContext& check) {
  const std::int64_t layers = number_of_layers(check.kase());
  const std::int64_t forwards = check.counters(0).layer_forwards;
  const std::int64_t all = layers * check.kase().micro_batches;
  const std::int64_t updates = count_of(check, EventKind::update);
  if (forwards > all) return check.diagnose("forward_twice");
  if (forwards == layers && all > layers) return check.diagnose("whole_batch_at_once");
  if (forwards < all) return check.diagnose("micro_batch_skipped");
  if (updates == 0) return check.diagnose("never_updated");
  if (updates > layers) check.diagnose("update_per_micro_batch");
}

void diagnose_memory(CheckContext& check) {
  const front::Counters& counters = check.counters(0);
  const std::int64_t layers = number_of_layers(check.kase());
  if (counters.layer_forwards != layers * check.kase().micro_batches) return diagnose_calls(check);
  if (counters.saved_peak > layers) return check.diagnose("all_in_flight");
  const auto gradient = static_cast<std::size_t>(Kind::gradient);
  const bool second = counters.peak_by_kind[gradient].value() > weight_bytes(layer_bytes(check.kase()));
  check.diagnose(second ? "second_gradient_buffer" : "activations_kept");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance) ||
      !check.equal_layers("weights", expected.weights, expected.weights_tolerance)) {
    return diagnose_output(check);
  }
  check.equal_scalar("loss", expected.loss, expected.loss_tolerance);
}

SHARDLINGS_CHECK(memory) {
  if (!check.peaks_at_most(budget(check.kase()))) diagnose_memory(check);
}

SHARDLINGS_CHECK(work) {
  const Letters letter(check.kase());
  const Formula<Count> all = letter.m * letter.l;
  const front::Counters& counters = check.counters(0);
  const std::int64_t updates = count_of(check, EventKind::update);
  if (check.exactly("forward calls", counters.layer_forwards, all, "calls",
                    check.place_of_last(0, EventKind::forward)) &&
      check.exactly("backward calls", counters.layer_backwards, all, "calls",
                    check.place_of_last(0, EventKind::backward)) &&
      check.exactly("update calls", updates, letter.l, "calls", check.place_of_last(0, EventKind::update))) {
    check.exactly("virtual time", check.end_time(0), all * (letter.f + letter.b));
    return;
  }
  diagnose_calls(check);
}

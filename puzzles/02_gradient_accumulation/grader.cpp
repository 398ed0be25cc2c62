// Judges gradient accumulation: numbers of the whole batch, memory of one micro-batch, no work done twice.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>

#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/training.h"
#include "grading/judge/predictions.h"
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

/// What the tokens of micro-batch i add to the loss of the first step.
double micro_loss(const Case& kase, int i) {
  const Layers weights = reference::initial_weights<double>(kase);
  Layers unused = scaled(weights, 0);
  return reference::train_micro(kase, micro_of(kase, 0, i), tokens_of_step(kase), weights, unused);
}

std::int64_t planned_updates(const CheckContext& check) {
  return number_of_layers(check.kase()) * check.kase().steps;
}

/// A layer was updated when not all micro-batches of a step had gone backward through it; the others did so later.
bool updated_too_early(const CheckContext& check) {
  if (check.counters(0).layer_backwards < planned_updates(check) * check.kase().micro_batches) return false;
  const auto backwards = check.events(0, EventKind::backward), updates = check.events(0, EventKind::update);
  return std::any_of(updates.begin(), updates.end(), [&](const front::Event& update) {
    const auto before = std::count_if(backwards.begin(), backwards.end(), [&](const front::Event& backward) {
      return backward.label.layer == update.label.layer && backward.order < update.order;
    });
    return before == 0 || before % check.kase().micro_batches != 0;
  });
}

/// All micro-batches run forward, and only one of a step runs backward.
bool one_backward_for_all(const CheckContext& check) {
  const std::int64_t micros = check.kase().micro_batches, once = planned_updates(check);
  return micros > 1 && check.counters(0).layer_forwards == once * micros && check.counters(0).layer_backwards == once;
}

/// Mistakes that the calls of model.update and model.backward show. False if they are as planned.
bool diagnose_updates(CheckContext& check) {
  const std::int64_t updates = count_of(check, EventKind::update);
  const Output* counted = check.output("updates");
  if (updates == 0) {
    check.diagnose("never_updated");
  } else if (updates > planned_updates(check)) {
    check.diagnose(updated_too_early(check) ? "update_per_micro_batch" : "several_updates");
  } else if (updated_too_early(check)) {
    check.diagnose("updated_too_early");
  } else if (counted != nullptr && !counted->values.empty() &&
             *std::max_element(counted->values.begin(), counted->values.end()) == 0) {
    check.diagnose("optimizer_not_used");
  } else if (one_backward_for_all(check)) {
    check.diagnose("one_backward_for_all");
  } else {
    return false;
  }
  return true;
}

/// The gradient is as many times too large as a wrong denominator makes it. False if no known one does.
bool diagnose_denominator(CheckContext& check, const Layers& found) {
  const Case& kase = check.kase();
  const std::optional<double> ratio = constant_ratio(found, check.reference().grads);
  const int micros = kase.micro_batches;
  const auto tokens = static_cast<double>(tokens_of_step(kase));
  const auto targets = static_cast<double>(micros * kase.batch * kase.model.sequence);
  const auto tokens_of = [&](int i) { return static_cast<double>(micro_of(kase, 0, i).tokens); };
  if (micros > 1 && near(ratio, 1.0 / micros)) {
    check.diagnose("divided_by_m_again");
  } else if (tokens < targets && near(ratio, tokens / targets)) {
    check.diagnose("padding_counted");
  } else if (tokens_of(0) != tokens_of(micros - 1) && (near(ratio, tokens / (micros * tokens_of(0))) ||
                                                       near(ratio, tokens / (micros * tokens_of(micros - 1))))) {
    check.diagnose("tokens_of_one_micro_batch");
  } else {
    return false;
  }
  return true;
}

/// Mistakes about how the micro-batches are put together. `found` is the gradient that was published.
void diagnose_sum(CheckContext& check, const Layers& found) {
  const Case& kase = check.kase();
  if (kase.micro_batches == 1) return;
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
  const Reference& expected = check.reference();
  const Layers found = found_layers(check.result(), "grads");
  const Layers weights = found_layers(check.result(), "weights");
  if (diagnose_updates(check)) return;
  if (constant_ratio(found, expected.grads) == 0 && alike(weights, expected.weights)) {
    return check.diagnose("cleared_after_update");
  }
  if (check.kase().steps > 1 || near(constant_ratio(found, expected.grads), 1)) return;
  if (!diagnose_denominator(check, found)) diagnose_sum(check, found);
}

void diagnose_loss(CheckContext& check) {
  const Case& kase = check.kase();
  const Output* output = check.output("loss");
  if (output == nullptr || output->values.size() != 1 || kase.steps > 1) return;
  if (count_of(check, EventKind::loss) > kase.micro_batches) return check.diagnose("loss_called_twice");
  const double last = micro_loss(kase, kase.micro_batches - 1);
  if (kase.micro_batches > 1 && near(static_cast<double>(output->values.front()), last)) {
    check.diagnose("loss_of_last_micro_batch");
  }
}

/// Weights, gradients, batch and loss, and what the optimizer keeps: there before the step begins.
Formula<Bytes> standing_bytes(const Case& kase) {
  const Bytes weights(weight_bytes(layer_bytes(kase)));
  const Formula<Bytes> model = named("weights", weights) + named("gradients", weights);
  const Formula<Bytes> rest = named("batch and loss", Bytes(batch_bytes(kase) + 4));
  if (kase.model.optimizer == model::ModelSpec::Optimizer::sgd) return model + rest;
  return model + named("moments", Bytes(2 * weights.value())) + rest;
}

/// While backward of layer l runs, the activations of layers 0 to l are alive, of one micro-batch.
Formula<Bytes> bytes_at(const Case& kase, std::size_t l) {
  const std::vector<LayerBytes> layers = layer_bytes(kase);
  std::int64_t kept = 0;
  for (std::size_t below = 0; below <= l; ++below) kept += layers[below].input + layers[below].saved;
  return standing_bytes(kase) + named(fmt::format("activations of layers 0-{} for one micro-batch", l), Bytes(kept)) +
         named(fmt::format("what backward of layer {} needs", l), Bytes(layers[l].backward - layers[l].saved));
}

/// The layer whose backward needs most. Forward needs less.
std::size_t layer_of_peak(const Case& kase) {
  std::size_t worst = 0;
  for (std::size_t l = 1; l < layer_bytes(kase).size(); ++l) {
    if (bytes_at(kase, l).value() >= bytes_at(kase, worst).value()) worst = l;
  }
  return worst;
}

Formula<Bytes> budget(const Case& kase) {
  return bytes_at(kase, layer_of_peak(kase));
}

Formula<Nanos> planned_time(const Case& kase) {
  const Letters letter(kase);
  return in_all_steps(kase, letter.m * letter.l * (letter.f + letter.b));
}

void diagnose_calls(CheckContext& check) {
  const std::int64_t layers = planned_updates(check);
  const std::int64_t forwards = check.counters(0).layer_forwards;
  const std::int64_t all = layers * check.kase().micro_batches;
  if (forwards > all) return check.diagnose("forward_twice");
  if (forwards == layers && all > layers) return check.diagnose("whole_batch_at_once");
  if (forwards < all) return check.diagnose("micro_batch_skipped");
  diagnose_updates(check);
}

/// What is in memory beyond the plan, seen at three places of the first step: when the first layer of the first
/// micro-batch has run, and when the first and the second micro-batch have gone backward.
void diagnose_activations(CheckContext& check) {
  const Case& kase = check.kase();
  const std::vector<LayerBytes> layers = layer_bytes(kase);
  const LayerBytes& first = layers.front();
  const auto forwards = check.events(0, EventKind::forward), backwards = check.events(0, EventKind::backward);
  if (forwards.empty() || backwards.size() < layers.size()) return;
  const std::int64_t standing = standing_bytes(kase).value().value();
  const std::int64_t at_start =
      forwards.front().live_after.value() - standing - first.input - first.output - first.saved;
  const bool whole_inputs = at_start > 0 && at_start % first.input == 0 && at_start <= kase.micro_batches * first.input;
  if (kase.micro_batches > 1 && whole_inputs) return check.diagnose("inputs_copied_at_once");
  std::int64_t inputs = 0;
  for (std::size_t l = 1; l < layers.size(); ++l) inputs += layers[l].input;
  const std::int64_t end = backwards[layers.size() - 1].live_after.value();
  if (layers.size() > 1 && end - standing - first.input - first.input_gradient >= inputs) {
    return check.diagnose("activations_kept");
  }
  if (backwards.size() < 2 * layers.size()) return;
  const std::int64_t growth = backwards[2 * layers.size() - 1].live_after.value() - end;
  if (growth > 0 && growth == first.input) check.diagnose("input_of_each_kept");
}

/// All micro-batches of the first step go forward before the first goes backward. Of two that says no more than that
/// one goes forward too early.
bool all_forward_first(const CheckContext& check) {
  const auto forwards = check.events(0, EventKind::forward), backwards = check.events(0, EventKind::backward);
  const auto calls = static_cast<std::size_t>(number_of_layers(check.kase()) * check.kase().micro_batches);
  if (check.kase().micro_batches == 2) return false;
  return !backwards.empty() && forwards.size() >= calls && forwards[calls - 1].order < backwards.front().order;
}

void diagnose_memory(CheckContext& check) {
  const front::Counters& counters = check.counters(0);
  const std::int64_t layers = number_of_layers(check.kase());
  if (counters.layer_forwards != planned_updates(check) * check.kase().micro_batches) return diagnose_calls(check);
  if (counters.saved_peak > layers)
    return check.diagnose(all_forward_first(check) ? "all_in_flight" : "next_in_flight");
  const auto gradient = static_cast<std::size_t>(Kind::gradient);
  if (counters.peak_by_kind[gradient].value() > weight_bytes(layer_bytes(check.kase()))) {
    return check.diagnose("second_gradient_buffer");
  }
  diagnose_activations(check);
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance) ||
      !check.equal_layers("weights", expected.weights, expected.weights_tolerance)) {
    return diagnose_output(check);
  }
  if (!check.equal_scalar("loss", expected.loss, expected.loss_tolerance)) return diagnose_loss(check);
  const std::vector<double> steps(expected.weights.size(), check.kase().steps);
  if (!check.equal("updates", steps, 0.0)) {
    check.detail("updates: state.optimizer[l].step of each layer l");
    diagnose_updates(check);
    return;
  }
  if (check.kase().model.optimizer == model::ModelSpec::Optimizer::sgd) return;
  if (check.equal_layers("m", expected.m, expected.m_tolerance)) {
    check.equal_layers("v", expected.v, expected.v_tolerance);
  }
}

SHARDLINGS_CHECK(memory) {
  if (!nothing_on_host(check)) return;
  if (!check.peaks_at_most(budget(check.kase()))) diagnose_memory(check);
}

SHARDLINGS_CHECK(work) {
  const Letters letter(check.kase());
  const Formula<Count> all = letter.m * letter.l;
  const Formula<Count> calls = in_all_steps(check.kase(), all);
  const front::Counters& counters = check.counters(0);
  const auto beyond = [&](EventKind kind) { return place_beyond(check, 0, kind, calls.value()); };
  if (check.exactly("forward calls", counters.layer_forwards, calls, "calls", beyond(EventKind::forward)) &&
      check.exactly("backward calls", counters.layer_backwards, calls, "calls", beyond(EventKind::backward)) &&
      check.exactly("update calls", count_of(check, EventKind::update), in_all_steps(check.kase(), letter.l), "calls",
                    place_beyond(check, 0, EventKind::update, planned_updates(check)))) {
    check.exactly("virtual time", check.end_time(0), planned_time(check.kase()));
    return;
  }
  diagnose_calls(check);
}

SHARDLINGS_PREDICTIONS("4 uneven micro-batches") {
  const Case& kase = predict.kase();
  const Letters letter(kase);
  const std::vector<LayerBytes> layers = layer_bytes(kase);
  const Formula<Bytes> gradients = named("gradients", Bytes(weight_bytes(layers)));
  const std::size_t last = layers.size() - 1;
  Case together = kase;
  together.batch = kase.batch * kase.micro_batches;
  together.micro_batches = 1;
  predict.end("time", "When does the step end?", planned_time(kase))
      .unlike(letter.l * (letter.f + letter.b), "That is one micro-batch.")
      .unlike(letter.m * letter.l * (letter.f + letter.f), "Backward takes twice as long as forward.");
  predict.peak("peak", 0, "How many bytes of device memory are alive at the worst moment?", budget(kase))
      .unlike(budget(kase) - gradients, "The gradients of all layers are missing: micro-batches add to them.")
      .unlike(budget(together), "Those are the activations of all micro-batches at once. One at a time is enough.")
      .unlike(budget(kase) - named("x[0]", Bytes(layers[0].input)),
              "x[0] is missing: a copy of the micro-batch's inputs, beside the batch.")
      .unlike(
          bytes_at(kase, last - 1),
          "That is the second call of backward, which had the peak in puzzle 01. Here the gradients of all layers are "
          "there in both calls: look at the first one as well.");
  predict
      .count("layer", "Backward of which layer has the peak? (The first layer is 0.)",
             Formula<Count>(static_cast<Count>(layer_of_peak(kase))), "")
      .unlike(letter.l - 2,
              "In puzzle 01 it was that one, since the gradient of its weights is larger than that of the last layer. "
              "Here the gradients of all layers are there in both calls.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 uneven micro-batches") {
  const Formula<Count> first = named("tokens of rank 0", 7 + 3), second = named("tokens of rank 1", 12 + 2);
  predict.answer(2)
      .count("tokens",
             "Two ranks have two micro-batches each: rank 0 of 7 and 3 tokens that count, rank 1 of 12 and 2. By which "
             "number is each of the four losses divided?",
             first + second, "tokens")
      .unlike(first, "That is rank 0 alone: then its tokens count for more than those of rank 1.")
      .unlike(second, "That is rank 1 alone: then its tokens count for less than those of rank 0.")
      .unlike((first + second) / 4,
              "That is the mean of a micro-batch: the sum of the gradients is divided by nothing else.");
}

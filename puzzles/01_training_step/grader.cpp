// Judges one training step on one device: numbers, peak of memory, virtual time.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>

#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/training.h"
#include "grading/judge/compare.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::EventKind;

namespace {

/// The weights' change divided by -lr: for plain SGD, the gradient that the update has used.
Layers used_gradient(const CheckContext& check) {
  const Layers change = combine(check.reference().weights_before, -1, found_layers(check.result(), "weights"));
  return scaled(change, 1.0 / check.kase().model.lr);
}

/// What layer l gets if a buffer collects the gradients of layers from the last one down to l: of all of them, or of
/// those that are as large as layer l.
Layers uncleared(const Layers& grads, bool of_all_sizes) {
  Layers sums = grads;
  for (std::size_t l = 0; l < grads.size(); ++l) {
    for (std::size_t above = l + 1; above < grads.size(); ++above) {
      if (!of_all_sizes && grads[above].size() != grads[l].size()) continue;
      const std::size_t common = std::min(sums[l].size(), grads[above].size());
      for (std::size_t i = 0; i < common; ++i) sums[l][i] += grads[above][i];
    }
  }
  return sums;
}

/// The last layer's bias has its right gradient, and the matrix has not: the only part that depends on the input.
bool only_matrix_differs(const CheckContext& check, const Layers& used) {
  const model::LayerStructure last = model::make_structure(check.kase().model).layers.back();
  const auto part = [&](const Layers& layers, const Range& range) {
    return Layers{std::vector<double>(layers.back().begin() + range.begin, layers.back().begin() + range.end)};
  };
  const Layers& right = check.reference().grads;
  const Entry& matrix = last.entries.front();
  const Entry& bias = last.entries.back();
  return bias.cols == 1 && alike(part(used, bias.range), part(right, bias.range)) &&
         !alike(part(used, matrix.range), part(right, matrix.range));
}

bool some_layer_unchanged(const Layers& used) {
  return std::any_of(used.begin(), used.end(), [](const std::vector<double>& layer) {
    return std::all_of(layer.begin(), layer.end(), [](double g) { return g == 0; });
  });
}

/// The weights are other ones than at the start, and model.update has not made them.
bool updated_by_hand(const CheckContext& check) {
  return count_of(check, EventKind::update) == 0 &&
         found_layers(check.result(), "weights") != check.reference().weights_before;
}

std::int64_t planned_calls(const CheckContext& check) {
  return number_of_layers(check.kase()) * check.kase().steps;
}

/// state.optimizer[l].step is not the number of steps, though there were updates. False if it is.
bool diagnose_updates(CheckContext& check) {
  const Output* updates = check.output("updates");
  const std::int64_t calls = count_of(check, EventKind::update);
  if (updates == nullptr || updates->values.empty() || (calls == 0 && !updated_by_hand(check))) return false;
  const auto [least, most] = std::minmax_element(updates->values.begin(), updates->values.end());
  if (calls == 0) {
    check.diagnose("updated_by_hand");
  } else if (calls > planned_calls(check)) {
    check.diagnose("several_updates");
  } else if (*most == 0 && calls == planned_calls(check)) {
    check.diagnose("optimizer_not_used");
  } else if (*least == static_cast<float>(2 * check.kase().steps)) {
    check.diagnose("counted_twice");
  } else if (*least == 0) {
    check.diagnose("layer_not_updated");
  } else if (*most < static_cast<float>(check.kase().steps) && calls == planned_calls(check)) {
    check.detail(fmt::format("state.optimizer[l].step is {} after {} steps", *most, check.kase().steps));
    check.diagnose("optimizer_set_back");
  } else {
    return false;
  }
  return true;
}

/// After one step of plain SGD the weights tell which gradient has moved them.
void diagnose_gradient(CheckContext& check) {
  const Layers used = used_gradient(check);
  const Layers& right = check.reference().grads;
  if (used.size() != right.size()) return;
  if (!all_finite(used)) return check.diagnose("gradient_not_zeroed");
  if (updated_by_hand(check)) return check.diagnose("updated_by_hand");
  const std::optional<double> ratio = constant_ratio(used, right);
  const auto tokens = static_cast<double>(tokens_of_step(check.kase()));
  const auto targets = static_cast<double>(check.kase().batch * check.kase().model.sequence);
  if (near(ratio, 1)) return;
  if (ratio && *ratio != 0) check.detail("in the gradient that the update was given, " + ratio_text(*ratio));
  if (ratio == 0) return check.diagnose("never_updated");
  if (near(ratio, 2)) return check.diagnose("updated_twice");
  if (tokens > 1 && near(ratio, tokens)) return check.diagnose("loss_not_divided");
  if (tokens < targets && near(ratio, tokens / targets)) return check.diagnose("padding_counted");
  if (some_layer_unchanged(used)) return check.diagnose("layer_not_updated");
  if (alike(used, uncleared(right, true)) || alike(used, uncleared(right, false))) {
    return check.diagnose("gradient_reused");
  }
  if (only_matrix_differs(check, used)) check.diagnose("wrong_input");
}

void diagnose_output(CheckContext& check) {
  const Case& kase = check.kase();
  if (kase.steps == 1 && kase.model.optimizer == model::ModelSpec::Optimizer::sgd) return diagnose_gradient(check);
  const Layers found = found_layers(check.result(), "weights");
  if (found.size() == check.reference().weights.size() && !all_finite(found)) {
    return check.diagnose("gradient_not_zeroed");
  }
  diagnose_updates(check);
}

/// Weights, batch and loss, and what the optimizer keeps: there before the step begins.
Formula<Bytes> standing_bytes(const Case& kase) {
  const Formula<Bytes> weights = named("weights", Bytes(weight_bytes(layer_bytes(kase))));
  const Formula<Bytes> rest = named("batch and loss", Bytes(batch_bytes(kase) + 4));
  if (kase.model.optimizer == model::ModelSpec::Optimizer::sgd) return weights + rest;
  return weights + named("moments", Bytes(2 * weight_bytes(layer_bytes(kase)))) + rest;
}

/// What is alive while backward of layer l runs: the activations of layers 0 to l and one gradient, of so many bytes.
Formula<Bytes> bytes_at(const Case& kase, std::size_t l, std::int64_t gradient) {
  const std::vector<LayerBytes> layers = layer_bytes(kase);
  std::int64_t kept = 0;
  for (std::size_t below = 0; below <= l; ++below) kept += layers[below].input + layers[below].saved;
  const std::string number = std::to_string(l);
  return standing_bytes(kase) + named("activations of layers 0-" + number, Bytes(kept)) +
         named("gradient of layer " + number, Bytes(gradient)) +
         named("what its backward needs", Bytes(layers[l].backward - layers[l].saved));
}

/// The layer whose backward needs most, and the most. Forward needs less. `gradient` says how many bytes the gradient
/// of a layer has.
std::pair<std::size_t, Formula<Bytes>> peak_with(const Case& kase, auto gradient) {
  const std::vector<LayerBytes> layers = layer_bytes(kase);
  std::pair<std::size_t, Formula<Bytes>> peak = {0, bytes_at(kase, 0, gradient(layers[0]))};
  for (std::size_t l = 1; l < layers.size(); ++l) {
    const Formula<Bytes> bytes = bytes_at(kase, l, gradient(layers[l]));
    if (bytes.value() >= peak.second.value()) peak = {l, bytes};
  }
  return peak;
}

std::pair<std::size_t, Formula<Bytes>> planned_peak(const Case& kase) {
  return peak_with(kase, [](const LayerBytes& layer) { return layer.weights; });
}

Formula<Bytes> budget(const Case& kase) {
  return planned_peak(kase).second;
}

Formula<Nanos> planned_time(const Case& kase) {
  const Letters letter(kase);
  return in_all_steps(kase, letter.l * (letter.f + letter.b));
}

/// Bytes beyond the plan when the first backward is still to come: after the loss there are all inputs, all that was
/// saved, and the gradient of the logits.
std::int64_t excess_after_loss(const CheckContext& check) {
  const std::vector<front::Event> losses = check.events(0, EventKind::loss);
  if (losses.empty()) return 0;
  const std::vector<LayerBytes> layers = layer_bytes(check.kase());
  std::int64_t planned = standing_bytes(check.kase()).value().value() + layers.back().output;
  for (const LayerBytes& layer : layers) planned += layer.input + layer.saved;
  return losses.front().live_after.value() - planned;
}

void diagnose_memory(CheckContext& check) {
  const Case& kase = check.kase();
  const std::vector<LayerBytes> layers = layer_bytes(kase);
  std::int64_t largest = 0, inputs = 0;
  for (const LayerBytes& layer : layers) {
    largest = std::max(largest, layer.weights);
    inputs += layer.input;
  }
  const front::Counters& counters = check.counters(0);
  if (counters.layer_forwards > planned_calls(check)) return check.diagnose("forward_twice");
  const auto gradient = static_cast<std::size_t>(Kind::gradient);
  if (counters.peak_by_kind[gradient].value() > largest) return check.diagnose("gradients_kept");
  if (excess_after_loss(check) == layers.back().output) return check.diagnose("copy_kept");
  const Formula<Bytes> with_largest = peak_with(kase, [largest](const LayerBytes&) { return largest; }).second;
  if (check.peak(0) == with_largest.value()) return check.diagnose("buffer_of_the_largest");
  const std::vector<front::Event> backward = check.events(0, EventKind::backward);
  if (backward.size() < layers.size()) return;
  const LayerBytes& first = layers.front();
  const std::int64_t before = standing_bytes(kase).value().value() + first.weights;
  const std::int64_t rest = backward[layers.size() - 1].live_after.value() - before - first.input_gradient;
  if (rest == first.input + weight_bytes(layers) - first.weights) return check.diagnose("gradients_kept");
  if (layers.size() > 2 && rest == first.input + layers[1].input) return check.diagnose("freed_one_late");
  if (layers.size() > 1 && rest >= inputs) check.diagnose("activations_kept");
}

/// The loss is as many times too large as model.loss was called too often.
void diagnose_loss(CheckContext& check) {
  if (count_of(check, EventKind::loss) > check.kase().steps) check.diagnose("loss_called_twice");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Case& kase = check.kase();
  const Reference& expected = check.reference();
  if (!check.equal_layers("weights", expected.weights, expected.weights_tolerance)) return diagnose_output(check);
  if (!check.equal_scalar("loss", expected.loss, expected.loss_tolerance)) return diagnose_loss(check);
  const std::vector<double> steps(expected.weights.size(), kase.steps);
  if (!check.equal("updates", steps, 0.0)) {
    check.detail("updates: state.optimizer[l].step of each layer l");
    diagnose_updates(check);
    return;
  }
  if (kase.model.optimizer == model::ModelSpec::Optimizer::sgd) return;
  check.equal_layers("m", expected.m, expected.m_tolerance) &&
      check.equal_layers("v", expected.v, expected.v_tolerance);
}

SHARDLINGS_CHECK(memory) {
  if (!nothing_on_host(check)) return;
  if (!check.peaks_at_most(budget(check.kase()))) diagnose_memory(check);
}

SHARDLINGS_CHECK(time) {
  const Case& kase = check.kase();
  const Letters letter(kase);
  const Formula<Count> calls = in_all_steps(check.kase(), letter.l);
  const std::int64_t planned = planned_calls(check);
  const front::Counters& counters = check.counters(0);
  const auto beyond = [&](EventKind kind) { return place_beyond(check, 0, kind, planned); };
  const bool once =
      check.exactly("forward calls", counters.layer_forwards, calls, "calls", beyond(EventKind::forward)) &&
      check.exactly("backward calls", counters.layer_backwards, calls, "calls", beyond(EventKind::backward)) &&
      check.exactly("update calls", count_of(check, EventKind::update), calls, "calls", beyond(EventKind::update));
  if (!once) {
    if (counters.layer_forwards > planned) check.diagnose("forward_twice");
    return;
  }
  if (!check.exactly("loss calls", count_of(check, EventKind::loss), in_all_steps(kase, Formula<Count>(1)), "calls",
                     place_beyond(check, 0, EventKind::loss, kase.steps))) {
    return check.diagnose("loss_twice");
  }
  check.exactly("virtual time", check.end_time(0), planned_time(check.kase()));
}

SHARDLINGS_PREDICTIONS("perceptron, 4 layers") {
  const Case& kase = predict.kase();
  const Letters letter(kase);
  const std::vector<LayerBytes> layers = layer_bytes(kase);
  const std::int64_t weights = weight_bytes(layers);
  const auto [peak_layer, peak] = planned_peak(kase);
  predict.end("time", "When does the step end?", planned_time(kase))
      .unlike(letter.l * (letter.f + letter.f),
              "Backward is two products for each one of forward, so it takes twice as long.")
      .unlike(letter.l * letter.f, "That is forward alone.");
  predict.peak("peak", 0, "How many bytes of device memory are alive at the worst moment?", peak)
      .unlike(peak_with(kase, [&](const LayerBytes&) { return weights; }).second,
              "Those are the gradients of all layers: a layer's own can go as soon as the layer is updated.")
      .unlike(peak - named("what its backward needs", Bytes(layers[peak_layer].backward - layers[peak_layer].saved)),
              "The gradients of activations are missing: the one that backward is given, and what it makes of it.")
      .unlike(peak - named("gradient of the layer's weights", Bytes(layers[peak_layer].weights)),
              "The gradient of the weights is missing: the running backward makes that of its layer.")
      .unlike(peak - named("one activation", Bytes(layers[peak_layer].input)),
              "One activation is missing: the running backward has the gradient that it was given and one more of that "
              "size, beside the inputs of all layers up to its own and what they have saved.")
      .unlike(peak + named("one activation", Bytes(layers[peak_layer].input)),
              "One activation too many: the gradient that backward is given is one of the two that it needs.")
      .unlike(peak - named("weights", Bytes(weights)) - named("batch and loss", Bytes(batch_bytes(kase) + 4)),
              "Weights, batch and loss are missing: they are there all along.")
      .unlike(bytes_at(kase, layers.size() - 1, layers.back().weights),
              "That is the first call of backward. Look at the second one as well.");
  predict
      .count("layer", "Backward of which layer has the peak? (The first layer is 0.)",
             Formula<Count>(static_cast<Count>(peak_layer)), "")
      .unlike(letter.l - 1,
              "The last layer has most activations below it, but saves nothing, and its gradients are "
              "those of a few logits.");
}

SHARDLINGS_PREDICTIONS_AFTER("perceptron, 4 layers") {
  Case kase = predict.kase();
  const Count last = number_of_layers(kase) - 1;
  for (kase.model.outputs = 1; static_cast<Count>(planned_peak(kase).first) != last;) ++kase.model.outputs;
  predict.answer(1)
      .count("outputs",
             "How many outputs must the network have at least, for the peak to be in the first call of backward?",
             named("outputs", kase.model.outputs), "outputs")
      .unlike(kase.model.hidden,
              "So many outputs make both gradients of weights equal. But the gradient of the logits "
              "counts as well, and once for each token.")
      .unlike(predict.kase().model.outputs, "With so many the second call is the peak: 64 < 204.");
}

// Judges one training step on one device: numbers, peak of memory, virtual time.

#include "grading/judge/grader.h"

#include <algorithm>

#include "case/data.h"
#include "grading/formulas/training.h"
#include "grading/judge/compare.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::EventKind;

namespace {

/// The weights' change divided by -lr: for plain SGD, the gradient that the update has used.
Layers used_gradient(const CheckContext& check) {
  const Layers change = combine(check.reference().weights_before, -1, found_layers(check.result(), "weights"));
  return scaled(change, 1.0 / check.kase().model.lr);
}

/// What layer l gets if one buffer collects the gradients of all layers from the last one down to l.
Layers uncleared(const Layers& grads) {
  Layers sums = grads;
  for (std::size_t l = 0; l < grads.size(); ++l) {
    for (std::size_t above = l + 1; above < grads.size(); ++above) {
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

void diagnose_output(CheckContext& check) {
  const Layers used = used_gradient(check);
  const Layers& right = check.reference().grads;
  if (used.size() != right.size()) return;
  if (!all_finite(used)) return check.diagnose("gradient_not_zeroed");
  const std::optional<double> ratio = constant_ratio(used, right);
  const auto tokens = static_cast<double>(tokens_of_step(check.kase()));
  const auto targets = static_cast<double>(check.kase().batch * check.kase().model.sequence);
  if (near(ratio, 1)) return;
  if (ratio && *ratio != 0) check.detail("in the gradient behind the update, " + ratio_text(*ratio));
  if (ratio == 0) return check.diagnose("never_updated");
  if (near(ratio, 2)) return check.diagnose("updated_twice");
  if (near(ratio, tokens)) return check.diagnose("loss_not_divided");
  if (near(ratio, tokens / targets)) return check.diagnose("padding_counted");
  if (some_layer_unchanged(used)) return check.diagnose("layer_not_updated");
  if (alike(used, uncleared(right))) return check.diagnose("gradient_reused");
  if (only_matrix_differs(check, used)) check.diagnose("wrong_input");
}

/// While backward of layer l runs, the activations of layers 0 to l and one gradient are alive. Forward needs less.
Formula<Bytes> budget(const Case& kase) {
  const std::vector<LayerBytes> layers = layer_bytes(kase);
  const Formula<Bytes> standing =
      named("weights", Bytes(weight_bytes(layers))) + named("batch and loss", Bytes(batch_bytes(kase) + 4));
  Formula<Bytes> peak = Bytes(0);
  std::int64_t kept = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    kept += layers[l].input + layers[l].saved;
    const std::string number = std::to_string(l);
    const Formula<Bytes> bytes = standing + named("activations of layers 0-" + number, Bytes(kept)) +
                                 named("gradient of layer " + number, Bytes(layers[l].weights)) +
                                 named("what its backward needs", Bytes(layers[l].backward - layers[l].saved));
    if (bytes.value() >= peak.value()) peak = bytes;
  }
  return peak;
}

void diagnose_memory(CheckContext& check) {
  const std::vector<LayerBytes> layers = layer_bytes(check.kase());
  std::int64_t largest = 0;
  std::int64_t inputs = 0;
  for (const LayerBytes& layer : layers) {
    largest = std::max(largest, layer.weights);
    inputs += layer.input;
  }
  const front::Counters& counters = check.counters(0);
  if (counters.layer_forwards > static_cast<std::int64_t>(layers.size())) return check.diagnose("forward_twice");
  const auto gradient = static_cast<std::size_t>(Kind::gradient);
  if (counters.peak_by_kind[gradient].value() > largest) return check.diagnose("gradients_kept");
  const std::vector<front::Event> backward = check.events(0, EventKind::backward);
  if (backward.empty()) return;
  const LayerBytes& first = layers.front();
  const std::int64_t before = weight_bytes(layers) + batch_bytes(check.kase()) + 4 + first.weights;
  const std::int64_t rest = backward.back().live_after.value() - before - first.input_gradient;
  if (rest == first.input + weight_bytes(layers) - first.weights) return check.diagnose("gradients_kept");
  check.diagnose(layers.size() > 1 && rest >= inputs ? "activations_kept" : "copy_kept");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("weights", expected.weights, expected.weights_tolerance)) return diagnose_output(check);
  check.equal_scalar("loss", expected.loss, expected.loss_tolerance);
}

SHARDLINGS_CHECK(memory) {
  if (!check.peaks_at_most(budget(check.kase()))) diagnose_memory(check);
}

SHARDLINGS_CHECK(time) {
  const Letters letter(check.kase());
  const front::Counters& counters = check.counters(0);
  const bool once = check.exactly("forward calls", counters.layer_forwards, letter.l, "calls",
                                  check.place_of_last(0, EventKind::forward)) &&
                    check.exactly("backward calls", counters.layer_backwards, letter.l, "calls",
                                  check.place_of_last(0, EventKind::backward));
  if (!once) {
    if (counters.layer_forwards > letter.l.value()) check.diagnose("forward_twice");
    return;
  }
  check.exactly("virtual time", check.end_time(0), letter.l * (letter.f + letter.b));
}

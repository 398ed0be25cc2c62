// Judges mixed precision: the optimizer in f32, bf16 weights that are its rounded ones, skipped steps, 16 bytes a
// weight.

#include "grading/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/parts.h"
#include "base/text.h"
#include "grading/reference/rounding.h"
#include "grading/sharding_checks.h"
#include "grading/training.h"

using namespace shardlings;
using namespace shardlings::grading;
using front::Collective;
using front::EventKind;

namespace {

bool overflows(const Case& kase, int step) {
  return step == kase.integer("overflow") || step == kase.integer("overflow_again");
}

int number_of_overflows(const Case& kase) {
  int number = 0;
  for (int step = 1; step <= kase.steps; ++step) number += overflows(kase, step) ? 1 : 0;
  return number;
}

/// All steps have the same batch, and those that overflow change nothing: they might as well not have been made.
Reference trained(const Case& kase) {
  Case clean = kase;
  clean.steps -= number_of_overflows(kase);
  return train_reference(clean, reference::Precision::mixed);
}

// ---- Scaling ----

struct Scaling {
  std::vector<double> scales, counts;  // after each step
};

Scaling expected_scaling(const Case& kase) {
  Scaling expected;
  double scale = static_cast<double>(kase.integer("scale"));
  Count clean = 0;
  for (int step = 1; step <= kase.steps; ++step) {
    ++clean;
    if (overflows(kase, step)) {
      scale /= 2;
      clean = 0;
    } else if (clean == kase.integer("growth")) {
      scale *= 2;
      clean = 0;
    }
    expected.scales.push_back(scale);
    expected.counts.push_back(static_cast<double>(clean));
  }
  return expected;
}

/// The same on every rank.
std::vector<double> on_all(const Case& kase, const std::vector<double>& values) {
  std::vector<double> all;
  for (int rank = 0; rank < kase.ranks; ++rank) all.insert(all.end(), values.begin(), values.end());
  return all;
}

void diagnose_scaling(CheckContext& check, const Scaling& expected) {
  const Output* scales = check.output("loss scale");
  const Output* counts = check.output("clean steps");
  if (scales == nullptr || counts == nullptr) return;
  double before = static_cast<double>(check.kase().integer("scale"));
  for (std::size_t step = 0; step < expected.scales.size(); ++step) {
    const double found = static_cast<double>(scales->values[step]);
    const double wanted = expected.scales[step];
    if (found != wanted && wanted < before) return check.diagnose("scale_not_halved");
    if (found != wanted && wanted > before) return check.diagnose("scale_not_doubled");
    if (static_cast<double>(counts->values[step]) != expected.counts[step]) return check.diagnose("counter_not_reset");
    before = wanted;
  }
}

// ---- Output ----

/// What m would be in units of the gradient, which hardly changes from step to step, if Adam had zeros in the steps
/// that overflow; relative to what it should be.
double decayed(const Case& kase) {
  constexpr double kBeta1 = 0.9;
  double right = 0, wrong = 0;
  for (int step = 1; step <= kase.steps; ++step) {
    if (!overflows(kase, step)) right = kBeta1 * right + (1 - kBeta1);
    wrong = kBeta1 * wrong + (overflows(kase, step) ? 0 : 1 - kBeta1);
  }
  return wrong / right;
}

/// Each layer is a multiple of what it should be, and not all by the same factor.
bool scaled_layer_by_layer(const Layers& found, const Layers& right) {
  std::vector<double> ratios;
  for (std::size_t l = 0; l < right.size(); ++l) {
    const std::optional<double> ratio = constant_ratio(Layers{found[l]}, Layers{right[l]});
    if (!ratio || *ratio <= 0) return false;
    ratios.push_back(*ratio);
  }
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  return *most > 1.02 * *least;
}

/// The ranks' own scales are not the same any more.
bool disagree_about_scale(const CheckContext& check) {
  const Output* scales = check.output("loss scale");
  if (scales == nullptr) return false;
  const auto steps = static_cast<std::size_t>(check.kase().steps);
  for (std::size_t i = steps; i < scales->values.size(); ++i) {
    if (scales->values[i] != scales->values[i - steps]) return true;
  }
  return false;
}

bool diagnose_ranks(CheckContext& check) {
  const Case& kase = check.kase();
  bool finite = true;
  for (int rank = 0; rank < kase.ranks; ++rank) {
    finite = finite && all_finite(layers_of_rank(check.result(), "m", rank));
  }
  const bool reduced = check.counters(0).calls(Collective::all_reduce) > 0 || kase.ranks == 1;
  if (finite && reduced) return false;
  if (finite) {
    check.diagnose("not_reduced");
  } else {
    check.diagnose(disagree_about_scale(check) ? "decided_alone" : "not_skipped");
  }
  return true;
}

/// m is as many times too large as a mistake with S, the limit or the ranks makes it.
bool diagnose_scale(CheckContext& check, const Reference& expected) {
  const Case& kase = check.kase();
  const std::optional<double> ratio = constant_ratio(layers_of_rank(check.result(), "m", 0), expected.m);
  if (!ratio || near(ratio, 1)) return false;
  const double norm = expected.norms.front(), limit = static_cast<double>(kase.model.clip);
  const auto scale = static_cast<double>(kase.integer("scale")), ranks = static_cast<double>(kase.ranks);
  const auto clipped = [&](double length) { return std::min(1.0, limit / length); };
  const std::pair<const char*, double> mistakes[] = {
      {"not_clipped", 1},
      {"clipped_scaled", clipped(scale * norm)},
      {"not_scaled", clipped(norm / scale) / scale},
      {"not_unscaled", clipped(scale * norm) * scale},
      {"averaged", clipped(norm / ranks) / ranks},
      {"reduced_twice", clipped(norm) * ranks},
  };
  for (const auto& [diagnosis, factor] : mistakes) {
    if (!near(ratio, factor / clipped(norm))) continue;
    check.diagnose(diagnosis);
    return true;
  }
  return false;
}

/// The moments are right, and the optimizer's weights are not.
void diagnose_master(CheckContext& check, const Reference& expected) {
  const Layers found = layers_of_rank(check.result(), "master", 0);
  if (found.size() != expected.weights.size()) return;
  double furthest = 0;  // in units of the distance of two bf16 numbers there
  for (std::size_t l = 0; l < found.size(); ++l) {
    for (std::size_t i = 0; i < found[l].size(); ++i) {
      const double distance = std::abs(found[l][i] - expected.weights[l][i]);
      furthest = std::max(furthest, distance / (0x1p-8 * std::abs(expected.weights_before[l][i]) + 1e-6));
    }
  }
  if (furthest < check.kase().steps) check.diagnose("master_rounded");
}

/// state.optimizer[l].step, exactly.
bool updates_are_counted(CheckContext& check) {
  const Case& kase = check.kase();
  const auto made = static_cast<double>(kase.steps - number_of_overflows(kase));
  const auto layers = static_cast<std::size_t>(kase.ranks * number_of_layers(kase));
  if (check.equal("updates", std::vector<double>(layers, made), 0.0)) return true;
  const Output* updates = check.output("updates");
  if (diagnose_ranks(check) || updates == nullptr || updates->values.empty()) return false;
  const Reference expected = trained(kase);
  const bool decays = std::abs(decayed(kase) - 1) > 0.02;
  if (decays && near(constant_ratio(layers_of_rank(check.result(), "m", 0), expected.m), decayed(kase))) {
    check.diagnose("skipped_step_decays");
  } else if (number_of_overflows(kase) > 0 && updates->values.front() == static_cast<float>(kase.steps)) {
    check.diagnose("skipped_step_counted");
  } else {
    check.diagnose("updates_not_counted");
  }
  return false;
}

/// The master weights are not exactly those of the start.
bool master_has_moved(CheckContext& check, const Reference& expected) {
  if (layers_of_rank(check.result(), "master", 0) != expected.weights_before) return true;
  check.fail("master weights that the steps have changed", "exactly those of the start");
  check.diagnose("master_ignored");
  return false;
}

void diagnose_output(CheckContext& check, const Reference& expected) {
  if (diagnose_ranks(check) || diagnose_scale(check, expected)) return;
  const Layers found = layers_of_rank(check.result(), "m", 0);
  if (found.size() == expected.m.size() && scaled_layer_by_layer(found, expected.m)) {
    return check.diagnose("clipped_by_layer");
  }
  diagnose_master(check, expected);
}

/// The bf16 weights are the learner's own f32 ones, rounded: not one bit else.
bool weights_are_rounded(CheckContext& check) {
  const Layers masters = layers_of_rank(check.result(), "master", 0);
  for (std::size_t l = 0; l < masters.size(); ++l) {
    std::vector<double> rounded;
    for (const double weight : masters[l]) rounded.push_back(reference::nearest_bf16(weight));
    if (!check.equal("weights." + std::to_string(l), rounded, 0.0)) return false;
  }
  return true;
}

// ---- Memory ----

struct Peak {
  std::int64_t bytes = 0;
  std::string formula;
};

std::int64_t number_of_weights(const Case& kase) {
  return weight_bytes(layer_bytes(kase)) / 4;
}

/// Inputs (f32, or ids) and targets, the loss, and the two numbers that decide.
std::int64_t given_bytes(const Case& kase) {
  return batch_bytes(kase) + 3 * 4;
}

Peak memory_budget(const Case& kase) {
  const std::vector<LayerBytes> layers = layer_bytes(kase, DType::bf16);
  const std::int64_t states = 16 * number_of_weights(kase);
  Peak peak;
  std::int64_t kept = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    kept += layers[l].input + layers[l].saved;
    const std::int64_t own = layers[l].backward - layers[l].saved;
    const std::int64_t bytes = states + given_bytes(kase) + kept + own;
    if (bytes < peak.bytes) continue;
    peak = {bytes, fmt::format("16 x {} weights + batch, loss and two numbers + bf16 activations of layers 0-{} + what "
                               "backward of layer {} needs = {}",
                               number_of_weights(kase), l, l, sum_text({states, given_bytes(kase), kept, own}))};
  }
  return peak;
}

/// Activations after a whole forward pass.
std::int64_t after_forward(const Case& kase, DType dtype) {
  const std::vector<LayerBytes> layers = layer_bytes(kase, dtype);
  std::int64_t bytes = layers.back().output;
  for (const LayerBytes& layer : layers) bytes += layer.input + layer.saved;
  return bytes;
}

void diagnose_memory(CheckContext& check, int rank) {
  const Case& kase = check.kase();
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  const std::vector<LayerBytes> layers = layer_bytes(kase, DType::bf16);
  const std::int64_t weights = number_of_weights(kase), standing = 16 * weights + given_bytes(kase);
  const auto forwards = check.events(rank, EventKind::forward), backwards = check.events(rank, EventKind::backward);
  if (forwards.size() < layers.size() || backwards.size() < layers.size()) return;
  const std::int64_t activations = forwards[layers.size() - 1].live_after.value() - standing;
  if (near(static_cast<double>(activations) / static_cast<double>(after_forward(kase, DType::f32)), 1)) {
    return check.diagnose("computed_in_f32");
  }
  std::int64_t inputs = 0;
  for (std::size_t l = 1; l < layers.size(); ++l) inputs += layers[l].input;
  const std::int64_t left = backwards[layers.size() - 1].live_after.value();
  const std::int64_t planned = standing + layers.front().input + layers.front().input_gradient;
  const std::int64_t kept = left - planned - inputs;  // less by flag and squares, if those are made after backward
  if (inputs > 0 && (kept == 0 || kept == -8)) return check.diagnose("activations_kept");
  // Every gradient once more, while backward runs or after it.
  const auto gradient = static_cast<std::size_t>(Kind::gradient);
  const bool more_gradients = check.counters(rank).peak_by_kind[gradient].value() > 2 * weights;
  if (more_gradients || check.peak(rank) >= left - layers.front().input + 4 * weights)
    check.diagnose("gradients_in_f32");
}

std::int64_t wire_bytes(const Case& kase, int rank) {
  std::int64_t bytes = 0;
  for (const LayerBytes& layer : layer_bytes(kase, DType::bf16)) {
    const Count count = layer.weights / 2;
    bytes += 2 * (2 * count - part_of(count, kase.ranks, rank).size() -
                  part_of(count, kase.ranks, (rank + 1) % kase.ranks).size());
  }
  return kase.ranks == 1 ? 0 : kase.steps * bytes;
}

/// In every step the gradient of the loss is multiplied before the first layer goes backward. A power of two changes no
/// bit of a result, and a gradient that is NaN is so with and without: only the trace tells.
bool scales_before_backward(const CheckContext& check, int rank) {
  const front::RankTrace& trace = check.trace(rank);
  bool scaled = true;
  for (const front::Event& event : trace.events) {
    if (event.kind == EventKind::loss) scaled = false;
    if (trace.names.at(event.name) == "scale") scaled = true;
    if (event.kind == EventKind::backward && !scaled) return false;
  }
  return true;
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference expected = trained(check.kase());
  if (!updates_are_counted(check) || !master_has_moved(check, expected)) return;
  if (!check.equal_layers("m", expected.m, expected.m_tolerance) ||
      !check.equal_layers("v", expected.v, expected.v_tolerance) ||
      !check.equal_layers("master", expected.weights, expected.weights_tolerance)) {
    return diagnose_output(check, expected);
  }
  if (!weights_are_rounded(check)) check.diagnose("weights_stale");
}

SHARDLINGS_CHECK(scaling) {
  const Scaling expected = expected_scaling(check.kase());
  if (!check.equal("loss scale", on_all(check.kase(), expected.scales), 0.0)) return diagnose_scaling(check, expected);
  if (!check.equal("clean steps", on_all(check.kase(), expected.counts), 0.0)) return diagnose_scaling(check, expected);
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (scales_before_backward(check, rank)) continue;
    check.fail("scale(grad, S) between loss and backward, in every step",
               "a backward without it on " + check.name_of(rank), check.place_of_first(rank, EventKind::backward));
    return check.diagnose("never_scaled");
  }
}

SHARDLINGS_CHECK(memory) {
  const Peak peak = memory_budget(check.kase());
  if (!check.peaks_at_most(peak.bytes, peak.formula)) diagnose_memory(check, check.worst_rank());
}

SHARDLINGS_CHECK(communication) {
  const Case& kase = check.kase();
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!check.at_most("numbers read by the program of " + check.name_of(rank), check.counters(rank).host_reads,
                       kase.steps, "1 in each step", "reads")) {
      return check.diagnose("many_reads");
    }
    if (!check.at_most("sent by " + check.name_of(rank), check.counters(rank).bytes_sent().value(),
                       wire_bytes(kase, rank),
                       fmt::format("{} x 2 (N-1)/N x gradients of 2 bytes = {} x 2 x {}/{} x {}", kase.steps,
                                   kase.steps, kase.ranks - 1, kase.ranks, 2 * number_of_weights(kase)),
                       "bytes", check.place_of_last(rank, EventKind::collective))) {
      return check.diagnose("too_much_sent");
    }
  }
}

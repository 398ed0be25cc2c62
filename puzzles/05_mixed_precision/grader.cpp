// Judges mixed precision: the optimizer in f32, bf16 weights that are its rounded ones, skipped steps, 16 bytes a
// weight.

#include "grading/judge/grader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/parts.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/mixed_training.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/formulas/training.h"
#include "grading/judge/most_of_products.h"
#include "grading/judge/predictions.h"
#include "grading/reference/rounding.h"
#include "model/operation_flops.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::EventKind;

namespace {

/// Steps that overflow might as well not have been made.
Reference trained(const Case& kase) {
  return train_reference(without_overflows(kase), reference::Precision::mixed);
}

// ---- Scaling ----

void diagnose_scaling(CheckContext& check, const Scaling& expected) {
  const Output* scales = check.output("loss scale");
  const Output* counts = check.output("clean steps");
  if (scales == nullptr || counts == nullptr) return;
  double before = static_cast<double>(check.kase().integer("scale"));
  for (std::size_t step = 0; step < expected.scales.size(); ++step) {
    const auto found = static_cast<double>(scales->values[step]);
    const double wanted = expected.scales[step];
    if (found != wanted && wanted < before) return check.diagnose("scale_not_halved");
    if (found != wanted && wanted > before) return check.diagnose("scale_not_doubled");
    if (found != wanted) return check.diagnose("scale_changed");
    if (static_cast<double>(counts->values[step]) != expected.counts[step]) return check.diagnose("counter_not_reset");
    before = wanted;
  }
}

// ---- Output ----

/// Skipped steps have changed the moments: either Adam was given zeros, or they were set to zero.
bool diagnose_skipped(CheckContext& check, const Reference& expected) {
  const std::optional<double> ratio = constant_ratio(layers_of_rank(check.result(), "m", 0), expected.m, kAlikeInBf16);
  const std::pair<const char*, double> mistakes[] = {{"skipped_step_decays", static_cast<double>(AdamStep().beta1)},
                                                     {"cleared_when_skipped", 0}};
  for (const auto& [diagnosis, factor] : mistakes) {
    const double wrong = kept_of_m(check.kase(), factor);
    if (std::abs(wrong - 1) < 0.02 || !near(ratio, wrong, kAlikeInBf16)) continue;
    check.diagnose(diagnosis);
    return true;
  }
  return false;
}

/// The ranks' own scales are not the same any more.
bool disagree_about_scale(const CheckContext& check) {
  const auto* scales = check.output("loss scale");
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
  if (whole_batch_everywhere(check, 0)) {
    check.diagnose("whole_batch_everywhere");
  } else if (finite) {
    check.diagnose("not_reduced");
  } else {
    check.diagnose(disagree_about_scale(check) ? "decided_alone" : "not_skipped");
  }
  return true;
}

/// m is as many times too large as a mistake with S, the limit or the ranks makes it.
bool diagnose_scale(CheckContext& check, const Reference& expected) {
  const Case& kase = check.kase();
  const std::optional<double> ratio = constant_ratio(layers_of_rank(check.result(), "m", 0), expected.m, kAlikeInBf16);
  if (!ratio || near(ratio, 1, kAlikeInBf16)) return false;
  const double norm = expected.norms.front();
  const auto scale = static_cast<double>(kase.integer("scale")), ranks = static_cast<double>(kase.ranks);
  const std::pair<const char*, double> mistakes[] = {
      {"not_clipped", 1},
      {"clipped_twice", clip_factor_of(kase, norm) * clip_factor_of(kase, norm)},
      {"divided_by_new_scale", clip_factor_of(kase, norm) * m_if_divided_by_new_scale(kase, norm)},
      {"clipped_scaled", clip_factor_of(kase, scale * norm)},
      {"not_scaled", clip_factor_of(kase, norm / scale) / scale},
      {"not_unscaled", clip_factor_of(kase, scale * norm) * scale},
      {"not_unscaled", clip_factor_of(kase, norm) * scale},
      {"not_unscaled", scale},
      {"averaged", clip_factor_of(kase, norm / ranks) / ranks},
      {"reduced_twice", clip_factor_of(kase, norm) * ranks},
  };
  for (const auto& [diagnosis, factor] : mistakes) {
    if (!near(ratio, factor / clip_factor_of(kase, norm), kAlikeInBf16)) continue;
    const bool multiplied = steps_scaled_before_backward(check, 0) == kase.steps;
    check.diagnose(multiplied && std::string_view(diagnosis) == "not_scaled" ? "divided_twice" : diagnosis);
    return true;
  }
  return false;
}

/// m is as large as the norm of something else than the whole gradient makes it.
bool diagnose_norm(CheckContext& check, const Reference& expected) {
  const Case& kase = check.kase();
  if (near(constant_ratio(layers_of_rank(check.result(), "m", 0), expected.m, kAlikeInBf16), 1, kAlikeInBf16))
    return false;
  const double right = clip_factor_of(kase, expected.norms.front());
  const auto clipped_by = [&](int rank, double norm) {
    const std::optional<double> ratio =
        constant_ratio(layers_of_rank(check.result(), "m", rank), expected.m, kAlikeInBf16);
    return near(ratio, clip_factor_of(kase, norm) / right, kAlikeInBf16);
  };
  bool own = true;
  for (int rank = 0; rank < kase.ranks; ++rank) {
    own = own && clipped_by(rank, norm_of(expected.local_grads[static_cast<std::size_t>(rank)]));
  }
  const bool one_layer = std::any_of(expected.grads.begin(), expected.grads.end(),
                                     [&](const auto& layer) { return clipped_by(0, norm_of({layer})); });
  if (!own && !one_layer) return false;
  check.diagnose(own ? "norm_of_own_part" : "norm_of_one_layer");
  return true;
}

/// The moments are right, and the optimizer's weights are not.
void diagnose_master(CheckContext& check, const Reference& expected) {
  const Case& kase = check.kase();
  const Layers found = layers_of_rank(check.result(), "master", 0), &before = expected.weights_before;
  if (found.size() != before.size()) return;
  const double moved = 2 * kase.steps * static_cast<double>(kase.model.lr);  // the most that all steps can have
  if (number_of_overflows(kase) > 0 && largest(found) <= moved && largest(before) > 4 * moved) {
    return check.diagnose("cleared_when_skipped");
  }
  const Layers last = found_layers(check.result(), "master before");
  const std::vector<int> numbers =
      numbers_of_last_updates(kase, last, found_layers(check.result(), "m"), found_layers(check.result(), "v"), found);
  const auto all = [&](int number) {
    return std::count(numbers.begin(), numbers.end(), number) == std::ssize(numbers);
  };
  if (std::count(numbers.begin(), numbers.end(), 0) == 0 && !all(without_overflows(kase).steps)) {
    check.detail(fmt::format("of the layers, the last update was made as number {}", fmt::join(numbers, ", ")));
    return check.diagnose(all(1) ? "step_not_given" : "wrong_step_number");
  }
  double furthest = 0;  // in units of the distance of two bf16 numbers there
  for (std::size_t l = 0; l < found.size(); ++l) {
    for (std::size_t i = 0; i < found[l].size(); ++i) {
      const double distance = std::abs(found[l][i] - expected.weights[l][i]);
      furthest = std::max(furthest, distance / (0x1p-8 * std::abs(before[l][i]) + 1e-6));
    }
  }
  if (furthest < kase.steps) check.diagnose("master_rounded");
}

/// The last update is exactly what Adam makes of the learner's own moments and master weights.
bool last_update_is_right(CheckContext& check) {
  const Case& kase = check.kase();
  const int number = without_overflows(kase).steps;
  const Layers before = found_layers(check.result(), "master before");
  const Layers m = found_layers(check.result(), "m"), v = found_layers(check.result(), "v");
  Layers tolerance = before;  // some roundings of f32, of the weight and of the step
  for (std::vector<double>& layer : tolerance) {
    for (double& value : layer) value = 0x1p-21 * std::abs(value) + 1e-4 * static_cast<double>(kase.model.lr);
  }
  if (check.equal_layers("master", updated(kase, before, m, v, number), tolerance)) return true;
  check.detail(
      fmt::format("expected is what Adam's update number {} makes of this run's own moments and weights", number));
  return false;
}

/// Neither master weights nor m are other than at the start.
bool nothing_was_updated(const CheckContext& check, const Reference& expected) {
  return largest(layers_of_rank(check.result(), "m", 0)) == 0 &&
         layers_of_rank(check.result(), "master", 0) == expected.weights_before;
}

/// A gradient was spoilt before backward added to it, and S says that nobody has seen that.
bool overwrites_gradients(const CheckContext& check) {
  const Output* scales = check.output("loss scale");
  if (check.kase().integer("overflow_layer") < 0 || scales == nullptr) return false;
  const auto step = static_cast<std::size_t>(check.kase().integer("overflow") - 1);
  return static_cast<double>(scales->values[step]) > expected_scaling(check.kase()).scales[step];
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
  if (diagnose_skipped(check, expected)) return false;
  if (overwrites_gradients(check)) {
    check.diagnose(computes_in_f32(check, 0) ? "computed_in_f32" : "gradients_overwritten");
  } else if (number_of_overflows(kase) > 0 && updates->values.front() == static_cast<float>(kase.steps)) {
    check.diagnose("skipped_step_counted");
  } else if (nothing_was_updated(check, expected)) {
    check.diagnose("never_updated");
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
  if (diagnose_ranks(check)) return;
  if (some_ranks_idle(check, expected.m)) return check.diagnose("not_updated_everywhere");
  if (skipped_by_layer(check, expected.m)) return check.diagnose("skipped_by_layer");
  if (diagnose_skipped(check, expected)) return;
  if (diagnose_scale(check, expected) || diagnose_norm(check, expected)) return;
  const Layers found = layers_of_rank(check.result(), "m", 0);
  if (clipped_by_layer(check.kase(), found, expected)) {
    check.diagnose("clipped_by_layer");
  } else if (scaled_at_every_layer(check.kase(), found, expected)) {
    check.diagnose("scaled_at_every_layer");
  } else if (alike(found, expected.m, kAlikeInBf16)) {
    diagnose_master(check, expected);
  }
}

void diagnose_loss(CheckContext& check, const std::string& name, const std::vector<double>& shares, double scale) {
  const Output* output = check.output(name);
  if (output == nullptr) return;
  const Layers found = {{output->values.begin(), output->values.end()}};
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (near(constant_ratio(found, {shares}, kAlikeInBf16), scale, kAlikeInBf16)) return check.diagnose("loss_scaled");
  if (whole_batch_everywhere(check, 0)) return check.diagnose("whole_batch_everywhere");
  if (alike(found, {std::vector<double>(shares.size(), sum)}, kAlikeInBf16)) check.diagnose("loss_reduced");
}

/// In every step that is not skipped each rank has added its share, without S.
bool losses_are_right(CheckContext& check, const Reference& expected) {
  const Case& kase = check.kase();
  auto scale = static_cast<double>(kase.integer("scale"));
  const Scaling scaling = expected_scaling(kase);
  for (int step = 1; step <= kase.steps; ++step) {
    if (!overflows(kase, step)) {
      const std::string name = fmt::format("loss of step {}", step);
      const std::vector<double> shares = mixed_loss_shares(kase, step);
      if (!check.equal(name, shares, expected.loss_tolerance)) {
        diagnose_loss(check, name, shares, scale);
        return false;
      }
    }
    scale = scaling.scales[static_cast<std::size_t>(step - 1)];
  }
  return true;
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

void diagnose_memory(CheckContext& check, int rank) {
  const Case& kase = check.kase();
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  if (computes_in_f32(check, rank)) return check.diagnose("computed_in_f32");
  if (state_copied(check, rank)) return check.diagnose("state_copied");
  const std::vector<LayerBytes> layers = layer_bytes(kase, DType::bf16);
  const std::int64_t weights = number_of_weights(kase), standing = 16 * weights + mixed_given_bytes(kase);
  const auto backwards = check.events(rank, EventKind::backward);
  if (backwards.size() < layers.size()) return;
  std::int64_t inputs = 0;
  for (std::size_t l = 1; l < layers.size(); ++l) inputs += layers[l].input;
  const std::int64_t left = backwards[layers.size() - 1].live_after.value();
  const std::int64_t planned = standing + layers.front().input + layers.front().input_gradient;
  const std::int64_t kept = left - planned - inputs;  // less by flag and squares, if those are made after backward
  if (inputs > 0 && (kept == 0 || kept == -8)) return check.diagnose("activations_kept");
  if (has_number_for_each_layer(check, rank, mixed_peak(kase).value())) return check.diagnose("number_for_each_layer");
  // Made for the optimizer: every gradient once more.
  const std::int64_t most = most_after_backward(check, rank);
  if (most > left && most >= left - layers.front().input + 4 * weights) return check.diagnose("gradients_in_f32");
  const auto gradient = static_cast<std::size_t>(Kind::gradient);
  if (check.counters(rank).peak_by_kind[gradient].value() > 2 * weights) check.diagnose("gradients_copied");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference expected = trained(check.kase());
  if (!updates_are_counted(check) || !master_has_moved(check, expected)) return;
  if (!check.equal_layers("m", expected.m, expected.m_tolerance) ||
      !check.equal_layers("v", expected.v, expected.v_tolerance) || !last_update_is_right(check) ||
      !check.equal_layers("master", expected.weights, expected.weights_tolerance)) {
    return diagnose_output(check, expected);
  }
  if (!weights_are_rounded(check)) return check.diagnose("weights_stale");
  losses_are_right(check, expected);
}

SHARDLINGS_CHECK(scaling) {
  const Scaling expected = expected_scaling(check.kase());
  if (!check.equal("loss scale", on_all_ranks(check.kase(), expected.scales), 0.0))
    return diagnose_scaling(check, expected);
  if (!check.equal("clean steps", on_all_ranks(check.kase(), expected.counts), 0.0))
    return diagnose_scaling(check, expected);
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!check.at_least("steps of " + check.name_of(rank) + " with scale(grad, S) between loss and backward",
                        steps_scaled_before_backward(check, rank), named("all of them", check.kase().steps), "steps",
                        check.place_of_first(rank, EventKind::backward))) {
      return check.diagnose("never_scaled");
    }
  }
}

SHARDLINGS_CHECK(memory) {
  if (!nothing_on_host(check)) return;
  if (!check.peaks_at_most(mixed_peak(check.kase()))) diagnose_memory(check, check.worst_rank());
}

SHARDLINGS_CHECK(communication) {
  const Case& kase = check.kase();
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!check.at_most("numbers read by the program of " + check.name_of(rank), check.counters(rank).host_reads,
                       named("1 in each step", kase.steps), "reads")) {
      return check.diagnose("many_reads");
    }
    if (!check.at_most("sent by " + check.name_of(rank), check.counters(rank).bytes_sent(),
                       mixed_wire_bytes(kase, rank), check.place_of_last(rank, EventKind::collective))) {
      return check.diagnose("too_much_sent");
    }
  }
}

/// One update of every weight, and one norm, in each step; more than that, as a step may be tried twice.
SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  const model::ModelStructure structure = model::make_structure(check.kase().model);
  const Count steps = check.kase().steps, layers = std::ssize(structure.layers);
  return {{Product::adam, Flops(model::kAdamFlops * steps * structure.total)},
          {Product::add_squares, Flops(2 * 2 * steps * structure.total)},
          {Product::clip_factor, Flops(2 * steps * layers)}};
}

SHARDLINGS_PREDICTIONS("3 ranks, uneven tokens, 2 steps") {
  const Case& kase = predict.kase();
  const Formula<Count> weights = named("number of weights", number_of_weights(kase));
  const Formula<Bytes> peak = mixed_peak(kase);
  predict
      .number("state", "How many bytes of weights, gradients and moments does a rank hold?",
              weights * Formula<Bytes>(Bytes(16)))
      .unlike(weights * Formula<Bytes>(Bytes(12)),
              "Two of weight, two of gradient, and four each of master weight and "
              "both moments: something of 4 bytes is missing.")
      .unlike(weights * Formula<Bytes>(Bytes(20)), "Weight and gradient have 2 bytes each.")
      .unlike(weights * Formula<Bytes>(Bytes(8)), "Moments and master weights are in f32.");
  predict.peak("peak", 0, "How many bytes of device memory are alive on a rank at the worst moment?", peak)
      .unlike(weights * Formula<Bytes>(Bytes(16)), "Those are the states alone. A backward is running.")
      .unlike(peak + weights * Formula<Bytes>(Bytes(2)), "Gradients have 2 bytes, not 4.");
  predict
      .sent("sent", 0, "How many bytes does rank 0 send in both steps? In KB, with three figures.",
            mixed_wire_bytes(kase, 0))
      .unlike(2 * mixed_wire_bytes(kase, 0), "Gradients travel as they are, with 2 bytes a number.")
      .unlike(mixed_wire_bytes(kase, 0) / 2, "There are two halves of an all-reduce, and two steps.");
}

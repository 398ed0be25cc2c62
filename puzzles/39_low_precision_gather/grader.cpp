// Judges FSDP that gathers its weights in 8 bits: codes and scales bit by bit, gradients of the weights that they stand
// for, master weights that keep their 32 bits, bytes, memory, and what is hidden.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "budgets.h"
#include "eight_bits.h"
#include "first_numbers.h"
#include "found.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/gathered_units.h"
#include "grading/formulas/mixed_step.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;
using namespace shardlings::low_precision;
namespace budget = shardlings::low_precision;
using front::Collective;
using front::Event;
using front::EventKind;

namespace {

// ---- Numbers ----

void diagnose_eight_bits(CheckContext& check, int step, const Layers& weights) {
  const Layers codes = found_layers(check.result(), of_step("codes", step));
  const Layers scales = layers_of_rank(check.result(), of_step("scales", step), 0);
  const auto right = in_eight_bits(weights, check.ranks());
  const auto is_like = [&](EightBitMistake mistake) {
    const auto mistaken = in_eight_bits(weights, check.ranks(), mistake);
    return mistaken != right && same_numbers(codes, codes_of(mistaken)) && same_numbers(scales, scales_of(mistaken));
  };
  if (has_unwritten_scales(check, step)) return check.diagnose("scales_unwritten");
  if (has_nan(codes)) return check.diagnose("codes_unwritten");
  if (has_first_codes(check, step)) return check.diagnose("codes_of_first_step");
  if (has_first_scales(check, step)) return check.diagnose("scales_of_first_step");
  if (has_own_scales(check, step, weights)) return check.diagnose("scales_not_agreed");
  const Layers side_by_side = scales_side_by_side(weights, check.ranks());
  if (side_by_side != scales_of(right) && scales == side_by_side) return check.diagnose("scales_side_by_side");
  if (is_like(EightBitMistake::own_scales)) return check.diagnose("quantized_before_agreeing");
  const std::string first = first_mistake(weights, check.ranks(), codes, scales);
  if (first == "blocks_counted_anew") return check.diagnose("blocks_counted_anew");
  if (!first.empty()) return check.diagnose("wrong_first");
  if (is_like(EightBitMistake::unscaled)) return check.diagnose("not_scaled");
  if (is_like(EightBitMistake::rounded_to_bf16)) check.diagnose("rounded_twice");
}

void diagnose_gradients(CheckContext& check, int step, const Layers& weights, const MixedStep& expected) {
  const Case& kase = check.kase();
  const Layers found = found_layers(check.result(), of_step("grads", step));
  const Layers& right = expected.exact.sum;
  if (!same_sizes(found, right)) return;
  const Output* loss = check.output(of_step("loss", step));
  if (loss != nullptr && !all_finite({{loss->values.begin(), loss->values.end()}})) {
    return check.diagnose("computed_with_nan");
  }
  if (!all_finite(found)) return check.diagnose("gradient_not_zeroed");
  const auto ratio = constant_ratio(found, right, kAlikeInBf16);
  if (ratio == 0) return check.diagnose("parts_untouched");
  if (kase.ranks > 1 && near(ratio, 1.0 / kase.ranks, kAlikeInBf16)) return check.diagnose("averaged");
  if (kase.ranks > 1 && alike(found, from_parts(kase, expected.exact.local), kAlikeInBf16)) {
    return check.diagnose("not_reduced");
  }
  // What 8 bits leave is a hundred times what roundings to bf16 do; and yet less than most mistakes.
  const double noise = 0x1p-8;
  for (const bool sum_only : {false, true}) {
    if (alike(found, quantized_gradient(kase, expected, sum_only), noise) && !alike(found, right, noise)) {
      return check.diagnose("gradients_quantized");
    }
  }
  Layers narrow = weights;
  Rounding<double> to_bf16;
  for (std::vector<double>& layer : narrow) keep(&to_bf16, layer);
  if (alike(found, mixed_gradient<double>(kase, narrow).sum, noise) && !alike(found, right, noise)) {
    check.diagnose("computed_with_master");
  }
}

/// The gradients are right, and the weights are not.
void diagnose_weights(CheckContext& check, int step, const Layers& weights, const Layers& in_codes) {
  const Layers grads = found_layers(check.result(), of_step("grads", step));
  const Layers found = found_layers(check.result(), of_step("weights", step));
  const Layers from_codes = sgd_step(check.kase(), in_codes, grads).weights;
  if (same_sizes(found, weights) && found == weights) return check.diagnose("never_updated");
  // Weights that have changed by less than a step of bf16 are told from what they have come from.
  if (alike(combine(found, -1, weights), combine(from_codes, -1, weights))) return check.diagnose("master_forgotten");
  const double updates = static_cast<double>(number_of_layers(check.kase()));
  if (static_cast<double>(count_of(check, EventKind::update)) >= 2 * updates * check.kase().steps) {
    check.diagnose("updated_twice");
  }
}

/// Bit by bit, on every rank. A scale that is wrong is told by the weights that share it.
bool right_scales(CheckContext& check, int step, const Layers& right) {
  const auto wrong = first_wrong_scale(check, step, right);
  if (!wrong) return check.equal_layers(of_step("scales", step), right, no_tolerance(right));
  const Range block = weights_of_block(wrong->block, budget::sizes(check.kase()).at(wrong->layer));
  return check.fail(
      fmt::format("{} of layer {}, block {} (weights {} to {}), on {}: {}", of_step("scales", step), wrong->layer,
                  wrong->block, block.begin, block.end - 1, check.name_of(wrong->rank), wrong->expected),
      fmt::format("{}", wrong->found));
}

/// What a step leaves in 8 bits. Its error is judged first: it is what the format promises.
bool right_in_eight_bits(CheckContext& check, int step, const Layers& weights) {
  const auto right = in_eight_bits(weights, check.ranks());
  const BeyondBound beyond = beyond_bound(weights, found_on(check, step, 0), right, check.ranks());
  const bool within = check.at_most("weights that come back with an error beyond max(|w|/16, scale/1024)" +
                                        (check.kase().steps > 1 ? " in step " + std::to_string(step) : std::string()),
                                    beyond.number, Formula<Count>(Count(0)), "weights");
  if (!within) check.detail(beyond.first);
  const Layers codes = codes_of(right);
  return within && right_scales(check, step, scales_of(right)) &&
         check.equal_layers(of_step("codes", step), codes, no_tolerance(codes));
}

/// Element by element, and as a whole: what 8 bits do to all elements shows in the whole alone.
bool right_gradient(CheckContext& check, int step, const MixedStep& expected) {
  const Layers& right = expected.exact.sum;
  const Layers found = found_layers(check.result(), of_step("grads", step));
  const auto elements = [&] { return check.equal_layers(of_step("grads", step), right, expected.tolerance); };
  if (is_far_off(found, expected)) return elements();
  const Formula<Count> noise = named("what roundings to bf16 do here", expected.noise);
  return check.at_most("distance of the gradient from that of scale x code, over its length",
                       distance<double>(found, right) / kNoiseStep * kNoiseStep, 2 * noise, "ten-thousandths") &&
         elements();
}

void check_step(CheckContext& check, int step) {
  const Layers weights = weights_before(check, step);
  if (!right_in_eight_bits(check, step, weights)) return diagnose_eight_bits(check, step, weights);
  const Layers in_codes = dequantized(in_eight_bits(weights, check.ranks()));
  const MixedStep expected = mixed_step(check.kase(), in_codes);
  if (!right_gradient(check, step, expected)) return diagnose_gradients(check, step, weights, expected);
  const Layers grads = found_layers(check.result(), of_step("grads", step));
  const SgdStep after = sgd_step(check.kase(), weights, grads);
  if (!check.equal_layers(of_step("weights", step), after.weights, after.tolerance)) {
    return diagnose_weights(check, step, weights, in_codes);
  }
  check.equal(of_step("loss", step), expected.exact.losses, expected.loss_tolerance);
}

// ---- Memory ----

std::optional<Event> first_call(const CheckContext& check, int rank, EventKind kind, std::size_t l) {
  for (const Event& event : check.events(rank, kind)) {
    if (event.label.layer == static_cast<std::int32_t>(l)) return event;
  }
  return std::nullopt;
}

/// Bytes beyond what is needed after forward of layer l.
std::int64_t excess_after_forward(const CheckContext& check, int rank, std::size_t l) {
  const auto event = first_call(check, rank, EventKind::forward, l);
  return event ? event->live_after.value() - budget::planned_after_forward(check.kase(), rank, l) : 0;
}

/// While a layer goes forward there are its weights in bf16 and the next one's codes, and no more: the step's peak, in
/// backward, would not notice.
bool holds_one_layer(CheckContext& check, int rank) {
  const std::size_t layers = budget::sizes(check.kase()).size();
  std::size_t worst = 0;
  for (std::size_t l = 0; l < layers; ++l) {
    if (!first_call(check, rank, EventKind::forward, l)) {
      return check.fail(fmt::format("forward of layer {} on {}", l, check.name_of(rank)), "no such call");
    }
    if (excess_after_forward(check, rank, l) > excess_after_forward(check, rank, worst)) worst = l;
  }
  const std::int64_t planned = budget::planned_after_forward(check.kase(), rank, worst);
  const std::int64_t there = budget::standing(check.kase(), rank).total();
  const std::vector<Count> n = budget::sizes(check.kase());
  const std::int64_t weights = budget::kBytesOfBf16 * n[worst];
  const std::int64_t codes = budget::size_at(n, worst + 1 < n.size() ? worst + 1 : worst - 1);
  const auto bytes = [](const char* name, std::int64_t number) { return named(name, Bytes(number)); };
  return check.at_most(fmt::format("memory of {} after forward of layer {}", check.name_of(rank), worst),
                       Bytes(planned + excess_after_forward(check, rank, worst)),
                       bytes("parts, scales, batch and loss", there) +
                           bytes("activations", planned - there - weights - codes) +
                           bytes("its weights in bf16", weights) + bytes("codes of the layer that is next", codes),
                       place_of(*first_call(check, rank, EventKind::forward, worst)));
}

/// A layer's backward in two halves keeps more between them than a whole one, and this step has no use for that.
bool calls_halves(const CheckContext& check, int rank) {
  return !check.events(rank, EventKind::backward_input).empty() ||
         !check.events(rank, EventKind::backward_weights).empty();
}

/// In the first step something is copied between its first forward and its last backward: then it may be copies that
/// stay in memory.
bool copies_between_layers(const CheckContext& check, int rank) {
  const auto begin = first_call(check, rank, EventKind::forward, 0);
  const auto end = first_call(check, rank, EventKind::backward, 0);
  const std::vector<std::string>& names = check.trace(rank).names;
  const std::vector<Event> operations = check.events(rank, EventKind::operation);
  return std::any_of(operations.begin(), operations.end(), [&](const Event& event) {
    const std::string& name = names.at(event.name);
    const bool between = begin && end && event.order > begin->order && event.order < end->order;
    return between && (name == "clone" || name == "copy" || name == "cast");
  });
}

void diagnose_memory(CheckContext& check, int rank) {
  const std::vector<Count> n = budget::sizes(check.kase());
  const std::vector<LayerBytes> layers = layer_bytes(check.kase(), DType::bf16);
  std::int64_t below = 0, inputs = 0,
               above = 0;  // weights of all layers but the last; inputs; gradients from layer 2 on
  for (std::size_t l = 0; l < layers.size(); ++l) {
    below += l + 1 < layers.size() ? layers[l].weights : 0;
    inputs += l > 0 ? layers[l].input : 0;
    above += l > 1 ? layers[l].weights : 0;
  }
  const std::size_t last = layers.size() - 1;
  if (last > 0 && excess_after_forward(check, rank, last) >= below - budget::size_at(n, last - 1)) {
    return check.diagnose("weights_kept");
  }
  const auto in_all_forwards = [&](auto excess_of) {
    for (std::size_t l = 0; l < last; ++l) {
      if (excess_after_forward(check, rank, l) != excess_of(l)) return false;
    }
    return last > 0;
  };
  if (in_all_forwards([&](std::size_t l) { return n[l]; })) return check.diagnose("codes_kept");
  if (in_all_forwards([&](std::size_t l) { return n[l + 1]; })) return check.diagnose("dequantized_ahead");
  const auto end = first_call(check, rank, EventKind::backward, 0);
  const auto kinds = end ? alive_after(check, rank, *end) : std::nullopt;
  if (calls_halves(check, rank)) return check.diagnose("backward_in_halves");
  if (!kinds) return;
  const auto alive = [&](Kind kind) { return (*kinds)[static_cast<std::size_t>(kind)].value(); };
  const std::int64_t gradients =
      budget::standing(check.kase(), rank).gradients + layers[0].weights + weights_at(layers, 1);
  if (above > 0 && alive(Kind::gradient) >= gradients + above) return check.diagnose("gradients_kept");
  const std::int64_t activations = layers[0].input + layers[0].input_gradient;
  if (inputs > 0 && alive(Kind::activation) >= activations + inputs) {
    if (copies_between_layers(check, rank)) return check.diagnose("copies_kept");
    check.diagnose("activations_kept");
  }
}

// ---- Bytes ----

/// Each all-gather of the run is one of the codes of a layer.
bool gathers_codes_only(const CheckContext& check, int rank) {
  const std::vector<Count> n = budget::sizes(check.kase());
  const std::vector<Event> gathers = collectives(check, rank, Collective::all_gather);
  return std::all_of(gathers.begin(), gathers.end(), [&](const Event& gather) {
    const auto l = static_cast<std::size_t>(gather.label.layer);  // without a label beyond all layers
    return l < n.size() && gather.bytes == Bytes(budget::gathered(check.kase(), rank, n[l], 1));
  });
}

/// Beside the codes, as often as they are to be gathered, all layers are gathered once in f32.
bool gathers_master_weights(const CheckContext& check, int rank) {
  const Case& kase = check.kase();
  const std::vector<Count> n = budget::sizes(kase);
  std::int64_t bytes = budget::gathered_bytes(kase, rank);
  for (const Count layer : n) bytes += budget::gathered(kase, rank, layer, kBytesOfF32);
  const front::Counters& counters = check.counters(rank);
  return counters.calls(Collective::all_gather) == kase.steps * (3 * number_of_layers(kase) - 1) &&
         counters.bytes_sent(Collective::all_gather) == Bytes(kase.steps * bytes);
}

void diagnose_bytes(CheckContext& check, int rank) {
  const Case& kase = check.kase();
  const front::Counters& counters = check.counters(rank);
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  if (check.ranks() == 1) return;
  const std::int64_t layers = number_of_layers(kase);
  const Bytes codes(kase.steps * budget::gathered_bytes(kase, rank));
  const Bytes gradients(kase.steps * budget::scattered_bytes(kase, rank));
  const Bytes scales(kase.steps * budget::agreed_bytes(kase, rank));
  const std::int64_t agreements = counters.calls(Collective::all_reduce);
  const Bytes summed = counters.bytes_sent(Collective::all_reduce);
  const bool gathers_once = counters.calls(Collective::all_gather) == kase.steps * (2 * layers - 1);
  const Bytes by_gathers = counters.bytes_sent(Collective::all_gather);
  if (gathers_once && by_gathers == 2 * codes) return check.diagnose("gathered_in_16_bits");
  if (gathers_once && by_gathers == 4 * codes) return check.diagnose("gathered_in_32_bits");
  if (agreements == 0 && gathers_master_weights(check, rank)) return check.diagnose("gathered_for_scales");
  const std::int64_t scatters = counters.calls(Collective::reduce_scatter);
  if (counters.bytes_sent(Collective::reduce_scatter) == 2 * gradients) {
    if (scatters == kase.steps * layers) return check.diagnose("reduced_in_32_bits");
    if (scatters == 2 * kase.steps * layers) return check.diagnose("reduced_twice");
  }
  if (counters.calls(Collective::reduce_scatter) < kase.steps * layers && summed >= scales + gradients) {
    return check.diagnose("all_reduced");
  }
  const bool gathers_rightly = counters.bytes_sent(Collective::all_gather) <= codes;
  // Of a layer's scales the parts may be longer by one than of all scales together.
  const Bytes rounded = scales + Bytes(4 * kase.steps * layers);
  if (gathers_rightly && agreements == kase.steps * layers && layers > 1 && summed <= rounded) {
    return check.diagnose("agreed_layer_by_layer");
  }
  if (gathers_rightly && agreements >= kase.steps * (2 * layers - 1) && layers > 1) {
    return check.diagnose("scales_sent_again");
  }
  const bool some_again = counters.calls(Collective::all_gather) <= kase.steps * (2 * layers + 1);
  if (some_again && gathers_codes_only(check, rank)) check.diagnose(gathered_too_often(check, rank));
}

void diagnose_time(CheckContext& check, int rank) {
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  if (computes_twice(check, rank)) return check.diagnose("computed_twice");
  const std::string mistake = unit_time_mistake(check, rank);
  check.diagnose(mistake.empty() ? "started_late" : mistake);
}

}  // namespace

SHARDLINGS_CHECK(output) {
  for (int step = 1; step <= check.kase().steps && !check.failed(); ++step) check_step(check, step);
}

SHARDLINGS_CHECK(memory) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!check.peak_at_most(rank, budget::peak(check.kase(), rank)) || !holds_one_layer(check, rank)) {
      return diagnose_memory(check, rank);
    }
  }
  nothing_on_host(check);
}

SHARDLINGS_CHECK(communication) {
  const Case& kase = check.kase();
  const Formula<Count> l = Letters(kase).l;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const bool right =
        sends_at_most(check, rank, in_all_steps(kase, budget::wire_bytes(kase, rank))) &&
        calls_exactly(check, rank, Collective::all_reduce, in_all_steps(kase, Formula<Count>(Count(1)))) &&
        gathers_by_layer(check, rank) && calls_exactly(check, rank, Collective::reduce_scatter, in_all_steps(kase, l));
    if (!right) return diagnose_bytes(check, rank);
  }
}

SHARDLINGS_CHECK(time) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!calls_halves(check, rank)) continue;
    check.fail("backward of each layer by one call, on " + check.name_of(rank), "backward in two halves",
               check.place_of_first(rank, EventKind::backward_input));
    return check.diagnose("backward_in_halves");
  }
  if (!finishes_within(check, budget::time_budget(check.kase()))) diagnose_time(check, check.slowest_rank());
}

SHARDLINGS_PREDICTIONS("4 ranks") {
  const Case& kase = predict.kase();
  const Letters letter(kase);
  const std::vector<Count> n = budget::sizes(kase);
  const auto bytes = [](const char* name, std::int64_t number) { return named(name, Bytes(number)); };
  const Formula<Bytes> codes = bytes("codes", n[0]), scales = bytes("scales", scaling_blocks(n[0]));
  predict.number("layer", "How many bytes does layer 0 have in 8 bits, scales included?", codes + scales)
      .unlike(codes + bytes("whole blocks", n[0] / kScalingBlock), "The last block is shorter, and has a scale, too.")
      .unlike(codes + 4 * scales, "A scale is a power of two: one byte.");
  const std::int64_t agreed = budget::agreed_bytes(kase, 0);
  predict.sent("sent", 0, "How many bytes does rank 0 send in the step?", budget::wire_bytes(kase, 0))
      .unlike(named("without the scales", Bytes(budget::wire_bytes(kase, 0).value() - Bytes(agreed))),
              "The scales have to be agreed on: one all-reduce of all of them.")
      .unlike(
          named("layer L-1 twice", budget::wire_bytes(kase, 0).value() + Bytes(budget::gathered(kase, 0, n.back(), 1))),
          "The last layer's weights are still there when its backward begins.");
  predict.end("time", "When does the step end, with everything hidden that can be?", budget::time_budget(kase))
      .unlike(named("without the scales",
                    budget::time_budget(kase).value() - 2 * budget::ring_time(kase, budget::blocks(kase), 1)),
              "Nothing can be gathered before the scales are agreed on.");
  const budget::WorstMoment worst = budget::worst_moment(kase);
  predict
      .peak("peak", 0, "How many bytes of device memory are alive on rank 0 at the worst moment?",
            budget::peak(kase, 0))
      .unlike(named("both layers in bf16", budget::peak(kase, 0).value() + Bytes(worst.codes)),
              "What is on its way is in 8 bits.");
}

// Judges the optimizer on the host: numbers of one device, memory of both places, bytes of both links, hidden lanes.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/offload.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/formulas/standstill.h"
#include "grading/formulas/step_cost.h"
#include "grading/judge/most_of_products.h"
#include "grading/judge/predictions.h"
#include "model/operation_flops.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::Event;
using front::EventKind;
using front::HostLink;

namespace {

/// On the device this is ZeRO-2, without the parts of gradients and moments.
constexpr int kZero = 2;

// ---- Time ----

bool on_host(const Event& event) {
  return event.kind == EventKind::copy || (event.kind == EventKind::update && event.lane == front::Lane::host);
}

/// Copies and updates of the host on one lane, in the order in which they were waited for.
std::vector<Event> on_lane(const CheckContext& check, int rank, front::Lane lane) {
  std::vector<Event> found;
  for (const Event& event : check.trace(rank).events) {
    if (on_host(event) && event.lane == lane) found.push_back(event);
  }
  return found;
}

/// What makes the step longer, and the line to look at.
struct Delay {
  std::string mistake;
  Standstill standstill;  // without time: it is a call that comes too late
};

/// Nothing crosses a link, and nothing is computed on the host, beside what the step needs: then a step that is too
/// long waits somewhere.
bool does_only_what_is_needed(const CheckContext& check, int rank) {
  const std::int64_t layers = number_of_layers(check.kase()) * check.kase().steps;
  return std::ssize(check.events(rank, EventKind::copy)) == 2 * layers &&
         std::ssize(on_lane(check, rank, front::Lane::host)) == layers &&
         std::ssize(collectives(check, rank, Collective::reduce_scatter)) == layers &&
         std::ssize(check.events(rank, EventKind::collective)) == 2 * layers;
}

/// In the first step layer 0, whose weights come back last, is gathered first, then layer 1, and so on.
bool gathers_go_up(const CheckContext& check, int rank) {
  const auto layers = static_cast<std::size_t>(number_of_layers(check.kase()));
  const auto gathers = collectives(check, rank, Collective::all_gather);
  if (layers < 2 || gathers.size() < layers) return false;
  for (std::size_t l = 0; l < layers; ++l) {
    if (gathers[l].label.layer != static_cast<std::int32_t>(l)) return false;
  }
  return true;
}

Delay delay_of(const CheckContext& check, int rank) {
  const auto backwards = check.events(rank, EventKind::backward);
  const auto drains = on_lane(check, rank, front::Lane::to_host);
  const auto updates = on_lane(check, rank, front::Lane::host);
  const auto fills = on_lane(check, rank, front::Lane::to_device);
  const auto layers = static_cast<std::size_t>(number_of_layers(check.kase()));
  const Standstill first_copy{check.place_of_first(rank, EventKind::copy), Nanos(0)};
  if (backwards.size() < layers || drains.empty() || updates.empty()) return {"", first_copy};
  const auto first = std::min_element(updates.begin(), updates.end(),
                                      [](const Event& a, const Event& b) { return a.posted < b.posted; });
  const bool drained_beside = overlaps(drains, backwards), updated_beside = overlaps(updates, backwards);
  if (first->posted >= backwards[layers - 1].end && drained_beside) {
    return {"updated_after_backward", {place_of(*first), Nanos(0)}};
  }
  const Nanos turn = backwards.front().begin, last = backwards.back().begin;
  if (drained_beside && updated_beside) {
    const auto reductions = collectives(check, rank, Collective::reduce_scatter);
    if (check.ranks() > 1 && layers > 1 && !overlaps(reductions, backwards)) {
      return {"reduced_alone", longest_standstill(check, rank, turn, last)};
    }
    std::string mistake = does_only_what_is_needed(check, rank) ? "waited_too_early" : "";
    if (!mistake.empty() && gathers_go_up(check, rank)) mistake = "gathered_from_below";
    return {mistake, longest_standstill(check, rank, last, check.end_time(rank))};
  }
  Standstill before_last = longest_standstill(check, rank, turn, last);
  if (before_last.time == Nanos(0)) before_last = first_copy;
  if (layers < 2) return {"", before_last};
  if (updated_beside) return {"waited_for_copy", before_last};
  return {overlaps(fills, backwards) ? "waited_for_update" : "one_after_another", before_last};
}

// ---- Memory ----

/// On the device: neither parts of gradients nor moments.
Formula<Bytes> device_budget(const Case& kase, int rank) {
  StepPeak peak = step_peak(kase, rank, kZero);
  peak.gradients = 0;
  peak.optimizer = 0;
  return peak.formula();
}

Formula<Bytes> host_budget(const Case& kase, int rank) {
  const Bytes part(sum_of(part_bytes(kase, rank)));
  return named("its part of the weights", part) + named("of the gradients", part) + 2 * named("of a moment", part);
}

void diagnose_device_memory(CheckContext& check, int rank) {
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  const front::KindBytes& kinds = check.counters(rank).peak_by_kind;
  if (kinds[static_cast<std::size_t>(Kind::optimizer)].value() > 0) return check.diagnose("states_on_device");
  const std::vector<LayerBytes> layers = layer_bytes(check.kase());
  std::int64_t two = layers.front().weights;
  for (std::size_t l = 1; l < layers.size(); ++l) two = std::max(two, layers[l - 1].weights + layers[l].weights);
  if (kinds[static_cast<std::size_t>(Kind::gradient)].value() > two) return check.diagnose("gradients_kept");
  if (kinds[static_cast<std::size_t>(Kind::parameter)].value() > weight_bytes(layers)) {
    return check.diagnose("states_on_device");
  }
  if (keeps_inputs(check, rank)) check.diagnose("activations_kept");
}

// ---- Bytes ----

void diagnose_wire(CheckContext& check, int rank) {
  const front::Counters& counters = check.counters(rank);
  const std::int64_t layers = number_of_layers(check.kase()) * check.kase().steps;
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  const Bytes scattered(check.kase().steps * sum_of(reduce_scatter_bytes(check.kase(), rank)));
  const Bytes gathered(check.kase().steps * sum_of(all_gather_bytes(check.kase(), rank)));
  if (cut_into_pieces(check, rank, Collective::reduce_scatter, layers, scattered) ||
      cut_into_pieces(check, rank, Collective::all_gather, layers, gathered)) {
    return check.diagnose("in_pieces");
  }
  if (counters.calls(Collective::broadcast) + counters.calls(Collective::reduce) > 0) {
    return check.diagnose("part_by_part");
  }
  if (counters.calls(Collective::all_reduce) >= layers) return check.diagnose("all_reduced");
  if (counters.calls(Collective::all_gather) > layers) check.diagnose("gathered_gradients");
}

/// One copy of each layer's part, in this direction.
bool copies_fit(CheckContext& check, int rank, HostLink way) {
  const Case& kase = check.kase();
  const Bytes part(sum_of(part_bytes(kase, rank)));
  const bool to_host = way == HostLink::to_host;
  const char* name = to_host ? "gradient of this rank's part" : "weights of this rank's part";
  const front::Copies& copies = check.counters(rank).copies[static_cast<std::size_t>(way)];
  const std::string whose = fmt::format("by {} to the {}", check.name_of(rank), to_host ? "host" : "device");
  const auto lane = to_host ? front::Lane::to_host : front::Lane::to_device;
  const std::vector<Event> all = on_lane(check, rank, lane);
  const Formula<Count> calls = in_all_steps(kase, Letters(kase).l);
  const auto surplus = static_cast<std::size_t>(calls.value());
  const Place where = all.empty() ? Place{} : place_of(surplus < all.size() ? all[surplus] : all.back());
  if (check.exactly("copied " + whose, copies.bytes, in_all_steps(kase, named(name, part)), where) &&
      check.exactly("copies " + whose, copies.calls, calls, "copies", where)) {
    return true;
  }
  if (copies.bytes > in_all_steps(kase, named(name, part)).value()) {
    check.diagnose("states_copied");
  } else if (copies.calls > calls.value()) {
    check.diagnose("copied_in_pieces");
  }
  return false;
}

// ---- Output ----

bool is(const Layers& found, const Layers& expected) {
  return found.size() == expected.size() && alike(found, expected);
}

void diagnose_gradients(CheckContext& check) {
  const Layers& right = check.reference().grads;
  const Layers found = found_layers(check.result(), "grads");
  if (found.size() != right.size()) return;
  if (!all_finite(found)) return check.diagnose("nothing_copied");
  const std::optional<double> ratio = constant_ratio(found, right);
  const bool summed = check.counters(0).calls(Collective::all_reduce) > 0;
  if (check.ranks() > 1 && near(ratio, check.ranks()) && summed) return check.diagnose("reduced_twice");
  if (check.ranks() > 1 && near(ratio, 1.0 / check.ranks())) return check.diagnose("averaged");
  if (is(found, from_parts(check.kase(), check.reference().local_grads))) check.diagnose("not_reduced");
}

/// Gradients are right, the weights on the host are not.
void diagnose_update(CheckContext& check) {
  const Layers found = found_layers(check.result(), "host weights");
  if (!all_finite(found)) return check.diagnose("updated_before_drained");
  if (is(found, check.reference().weights_before)) check.diagnose("never_updated");
}

/// Some layer was gathered before its new weights were on their way to the device.
bool gathered_before_filled(const CheckContext& check) {
  const auto gathers = collectives(check, 0, Collective::all_gather);
  auto fills = on_lane(check, 0, front::Lane::to_device);
  std::sort(fills.begin(), fills.end(), [](const Event& a, const Event& b) { return a.order < b.order; });
  for (std::size_t i = 0; i < std::min(gathers.size(), fills.size()); ++i) {
    if (gathers[i].order < fills[i].order) return true;
  }
  return false;
}

/// All is right on the host; the device has something else.
void diagnose_weights(CheckContext& check) {
  const Layers found = found_layers(check.result(), "weights");
  if (is(found, check.reference().weights_before) && found == check.reference().weights_before) {
    return check.diagnose("not_filled");
  }
  const std::int64_t layers = number_of_layers(check.kase()) * check.kase().steps;
  if (check.ranks() > 1 && check.counters(0).calls(Collective::all_gather) < layers) {
    return check.diagnose("not_gathered");
  }
  check.diagnose(gathered_before_filled(check) ? "stale_weights" : "wrong_place");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) return diagnose_gradients(check);
  if (!equal_moments(check)) return diagnose_update(check);
  if (!check.equal_layers("host weights", expected.weights, expected.weights_tolerance)) return diagnose_update(check);
  if (!check.equal_layers("weights", expected.weights, expected.weights_tolerance)) return diagnose_weights(check);
  if (!equal_loss_shares(check) && whole_loss_everywhere(check)) check.diagnose("loss_reduced");
}

SHARDLINGS_CHECK(memory) {
  const Case& kase = check.kase();
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!check.peak_at_most(rank, device_budget(kase, rank))) return diagnose_device_memory(check, rank);
    const front::MemoryUse& host = check.counters(rank).host;
    if (!check.at_most("host memory of " + check.name_of(rank), host.peak, host_budget(kase, rank),
                       {host.peak_file, host.peak_line})) {
      return check.diagnose("more_on_host");
    }
  }
}

SHARDLINGS_CHECK(communication) {
  const Case& kase = check.kase();
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!copies_fit(check, rank, HostLink::to_host) || !copies_fit(check, rank, HostLink::to_device)) return;
    const Formula<Count> calls = in_all_steps(kase, Letters(kase).l);
    if (sends_exactly(check, rank, in_all_steps(kase, step_bytes(kase, rank, kZero))) &&
        calls_exactly(check, rank, Collective::reduce_scatter, calls) &&
        calls_exactly(check, rank, Collective::all_gather, calls)) {
      continue;
    }
    return diagnose_wire(check, rank);
  }
}

SHARDLINGS_CHECK(time) {
  const Case& kase = check.kase();
  const int rank = check.slowest_rank();
  const Delay delay = delay_of(check, rank);
  if (check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank),
                    in_all_steps(kase, longest_offload_path(kase).formula()), delay.standstill.place)) {
    return;
  }
  std::string stood =
      fmt::format("the program stood still for copies and Adam: {}", to_text(check.counters(rank).waited_for_host));
  if (delay.standstill.time > Nanos(0))
    stood += fmt::format("; at the line below it waited {}", to_text(delay.standstill.time));
  check.detail(stood);
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  if (computes_twice(check, rank)) return check.diagnose("computed_twice");
  if (!delay.mistake.empty()) check.diagnose(delay.mistake);
}

/// One update of every weight in each step: where the states should be, says the check of memory.
SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  const Count weights = model::make_structure(check.kase().model).total;
  return {{Product::adam, Flops(model::kAdamFlops * check.kase().steps * weights)}};
}

SHARDLINGS_PREDICTIONS("1 rank") {
  const Case& kase = predict.kase();
  const Letters letter(kase);
  const Formula<Bytes> part = named("gradient of this rank's part", Bytes(sum_of(part_bytes(kase, 0))));
  const Formula<Bytes> peak = device_budget(kase, 0);
  const StepPeak kept = step_peak(kase, 0, kZero);
  predict
      .number("to_host", "How many bytes go over the host link to the host in the step?", part, Question::Of::to_host)
      .unlike(3 * part, "The moments stay on the host for good: only the gradient travels.")
      .unlike(2 * part, "That is both directions. Back go the weights, which the other direction carries.");
  predict
      .number("host_peak", "How many bytes of the host's memory are alive at the worst moment?", host_budget(kase, 0),
              Question::Of::host_peak)
      .unlike(2 * part, "Adam works there: with the gradient and both moments it needs the weights, too.")
      .unlike(3 * part, "Adam has to have the weights there, too, or nothing could be updated.");
  const std::vector<LayerBytes> layers = layer_bytes(kase);
  const LayerBytes& worst = layers.at(kept.layer);
  const LayerBytes& next = layers.at(kept.layer + 1);
  const LayerBytes& last = layers.at(kept.layer + 2);
  const Formula<Bytes> at_next =
      named("at the next layer", peak.value() + Bytes(next.input + next.saved - worst.weights + last.weights));
  predict.peak("peak", 0, "How many bytes of device memory are alive at the worst moment?", peak)
      .unlike(at_next, "That is layer 2. Of its two gradients that of layer 3 is half as long: look at layer 1, too.")
      .unlike(peak + named("moments", Bytes(kept.optimizer)), "The moments are on the host.")
      .unlike(peak + named("gradients", Bytes(kept.gradients)),
              "Gradients leave as they are made: two of layers are there at most.");
  predict
      .end("time", "When does the step end, with everything hidden that can be?", longest_offload_path(kase).formula())
      .unlike(
          letter.l * (letter.f + letter.b),
          "After the last backward its gradient still has to go to the host, be used there, and weights come back.");
}

SHARDLINGS_PREDICTIONS_AFTER("1 rank") {
  const Letters letter(predict.kase());
  const Formula<Nanos> step = longest_offload_path(predict.kase()).formula();
  const Formula<Nanos> computing = letter.l * (letter.f + letter.b);
  predict.answer(3)
      .number("exposed", "How much of the step would the delayed update hide here, in which nothing is clipped?",
              step - computing)
      .unlike(step, "That is the whole step. Most of it is computing.");
  const auto tokens = [](double bytes) { return named("tokens", Count(std::llround(bytes * 989e12 / (4 * 77e9)))); };
  predict.answer(4)
      .count(
          "tokens",
          "One rank, f32 gradients, a device of 989 TFLOP/s, and a host whose memory gives 77 GB/s to Adam. From how "
          "many tokens of a micro-batch on is backward slower than Adam?",
          tokens(28), "tokens")
      .unlike(tokens(26), "Those are gradients of bf16: Adam reads 4 bytes of an f32 one.")
      .unlike(tokens(14), "Backward takes 4 operations for each weight and token.");
}

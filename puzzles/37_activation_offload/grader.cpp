// Judges activations in the host's memory: numbers of one device, two inputs on it, bytes of the link, hidden copies.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/checkpoint_plan.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/standstill.h"
#include "grading/formulas/training.h"
#include "grading/judge/predictions.h"
#include "moved_inputs.h"

using namespace shardlings;
using namespace shardlings::grader;
using namespace shardlings::activation_offload;
using front::Event;
using front::EventKind;
using front::HostLink;

namespace {

// ---- Copies ----

std::vector<Event> copies(const CheckContext& check, front::Lane lane) {
  std::vector<Event> found = check.events(0, EventKind::copy);
  std::erase_if(found, [&](const Event& copy) { return copy.lane != lane; });
  std::sort(found.begin(), found.end(), [](const Event& a, const Event& b) { return a.order < b.order; });
  return found;
}

// ---- Memory ----

/// Weights, gradients, batch and loss: there before the step begins.
Formula<Bytes> fixed_bytes(const Case& kase) {
  const Bytes weights(weight_bytes(layer_bytes(kase)));
  return named("weights", weights) + named("gradients", weights) +
         named("batch and loss", Bytes(batch_bytes(kase) + kBytesOfF32));
}

/// The inputs of a layer and of the one below it; that of layer 0 is the batch.
std::int64_t two_inputs(const Case& kase, Count l) {
  return input_bytes(kase, std::max<Count>(1, l - 1), l + 1);
}

/// The most with two inputs on the device, or with all of those that backward still needs.
Formula<Bytes> device_budget(const Case& kase, bool keeps_all = false) {
  const std::vector<PlannedLayer> layers = planned_layers(kase);
  std::int64_t most = 0, inputs = 0;
  Count worst = 0;
  for (Count l = 0; l < std::ssize(layers); ++l) {
    const PlannedLayer& layer = layers[static_cast<std::size_t>(l)];
    const std::int64_t work = l + 1 < std::ssize(layers) ? layer.again_work : layer.kept_work;
    const std::int64_t there = keeps_all ? input_bytes(kase, 1, l + 1) : two_inputs(kase, l);
    if (there + work <= most) continue;
    most = there + work;
    inputs = there;
    worst = l;
  }
  return fixed_bytes(kase) + named(keeps_all ? "all inputs" : "two inputs", Bytes(inputs)) +
         named(fmt::format("work of layer {}", worst), Bytes(most - inputs));
}

/// What is alive after a call, beyond what was there before the step.
std::int64_t alive_after(const CheckContext& check, const Event& call) {
  return call.live_after.value() - fixed_bytes(check.kase()).value().value();
}

std::int64_t excess_at_loss(const CheckContext& check) {
  const Case& kase = check.kase();
  const auto losses = check.events(0, EventKind::loss);
  if (losses.empty()) return 0;
  const LayerBytes last = layer_bytes(kase).back();
  return alive_after(check, losses.front()) - two_inputs(kase, number_of_layers(kase) - 1) - last.saved - last.output;
}

/// The bytes are what one or more of the layers right before the last one save, and more than one Saved is alive.
bool are_saved_before_last(const CheckContext& check, std::int64_t bytes) {
  const std::vector<LayerBytes> layers = layer_bytes(check.kase());
  std::int64_t saved = 0;
  for (std::size_t l = layers.size() - 1; l-- > 0 && check.counters(0).saved_peak > 1;) {
    saved += layers[l].saved;
    if (saved == bytes) return true;
  }
  return false;
}

/// The calls of forward of the first pass, by layer; empty if that was another one.
std::vector<Event> first_pass(const CheckContext& check) {
  std::vector<Event> forwards = check.events(0, EventKind::forward);
  const auto layers = static_cast<std::size_t>(number_of_layers(check.kase()));
  if (forwards.size() < layers) return {};
  forwards.resize(layers);
  for (std::size_t l = 0; l < layers; ++l) {
    if (forwards[l].label.layer != static_cast<std::int32_t>(l)) return {};
  }
  return forwards;
}

/// After each forward of the first pass the inputs from `lowest` on and its output are on the device, and nothing else.
bool holds_in_first_pass(const CheckContext& check, const std::function<Count(Count l)>& lowest) {
  const std::vector<LayerBytes> layers = layer_bytes(check.kase());
  const std::vector<Event> forwards = first_pass(check);
  for (std::size_t i = 0; i < forwards.size(); ++i) {
    const auto l = static_cast<Count>(i);
    const std::int64_t there = input_bytes(check.kase(), std::max<Count>(1, lowest(l)), l + 1) + layers[i].output +
                               (i + 1 == forwards.size() ? layers[i].saved : 0);
    if (alive_after(check, forwards[i]) != there) return false;
  }
  return !forwards.empty();
}

bool all_inputs_stay(const CheckContext& check) {
  return holds_in_first_pass(check, [](Count) { return 1; });
}

/// Each input that moves is there while one layer more runs than need be.
bool freed_late(const CheckContext& check) {
  const auto lowest = [&](Count l) { return moves(check.kase(), l - 2) ? l - 2 : l - 1; };
  return number_moved(check.kase()) > 0 && holds_in_first_pass(check, lowest);
}

bool batch_is_there_twice(const CheckContext& check) {
  const std::vector<Event> forwards = first_pass(check);
  const LayerBytes first = layer_bytes(check.kase()).front();
  const std::int64_t saved = forwards.size() == 1 ? first.saved : 0;
  return !forwards.empty() && alive_after(check, forwards.front()) == first.output + saved + first.input;
}

/// x[j] starts to come back before backward of layer j+2 is over, with which the device has no room for it yet.
bool fetched_too_early(const CheckContext& check) {
  const std::vector<Event> fetches = copies(check, front::Lane::to_device);
  const std::vector<Event> backwards = check.events(0, EventKind::backward);
  for (std::size_t k = 0; k < fetches.size() && k < backwards.size(); ++k) {
    if (fetches[k].order < backwards[k].order) return true;
  }
  return false;
}

/// After each backward there is room for inputs whose copy has not started: for the next one, or for all of them. The
/// first pass left nothing behind that would look like it, unless all that room was there from its beginning.
bool room_made_early(const CheckContext& check) {
  const Case& kase = check.kase();
  const std::vector<LayerBytes> layers = layer_bytes(kase);
  const std::vector<Event> forwards = first_pass(check);
  if (forwards.size() < 4) return false;
  const std::int64_t at_first = alive_after(check, forwards.front()) - layers.front().output;
  const std::int64_t at_last = alive_after(check, forwards.back()) - layers.back().output - layers.back().saved -
                               two_inputs(kase, std::ssize(layers) - 1);
  if (at_last != at_first || (at_first != 0 && at_first != moved_bytes(kase).value().value())) return false;
  bool for_next = true, for_all = true;
  for (const Event& backward : check.events(0, EventKind::backward)) {
    const Count l = backward.label.layer;
    if (l < 2 || !moves(kase, l - 2)) continue;
    const std::int64_t needed = two_inputs(kase, l) + layers[static_cast<std::size_t>(l)].input_gradient;
    const std::int64_t excess = alive_after(check, backward) - needed;
    for_next = for_next && excess == input_bytes(kase, l - 2, l - 1);
    for_all = for_all && excess == input_bytes(kase, 1, l - 1);
  }
  return for_next || for_all;
}

void diagnose_device_memory(CheckContext& check) {
  const Case& kase = check.kase();
  const std::int64_t excess = excess_at_loss(check);
  const auto copied_out = std::ssize(copies(check, front::Lane::to_host));
  if (excess > 0 && are_saved_before_last(check, excess)) return check.diagnose("saved_anyway");
  const bool all_stay = excess > 0 && excess == moved_bytes(kase).value().value() && all_inputs_stay(check);
  if (all_stay && copied_out == 0) return check.diagnose("nothing_moved");
  if (all_stay && copied_out >= number_moved(kase)) return check.diagnose("not_freed");
  if (excess == 0 && freed_late(check)) return check.diagnose("freed_late");
  if (excess == inputs_of(kase).front() && batch_is_there_twice(check)) return check.diagnose("batch_copied");
  if (fetched_too_early(check)) return check.diagnose("fetched_too_early");
  if (room_made_early(check)) return check.diagnose("room_made_early");
  const auto backwards = check.events(0, EventKind::backward);
  if (excess != 0 || backwards.empty()) return;
  const std::int64_t left = alive_after(check, backwards.back());
  if (left > 0 && left == input_bytes(kase, 1, number_of_layers(kase))) check.diagnose("activations_kept");
}

// ---- The link ----

/// Just the inputs of layers [begin, end) went to the host, each in one copy.
bool went_to_host(const CheckContext& check, Count begin, Count end) {
  const std::vector<std::int64_t> inputs = inputs_of(check.kase());
  std::vector<std::int64_t> planned(inputs.begin() + begin, inputs.begin() + end), found;
  for (const Event& copy : copies(check, front::Lane::to_host)) found.push_back(copy.bytes.value());
  std::sort(planned.begin(), planned.end());
  std::sort(found.begin(), found.end());
  return found == planned;
}

/// Inputs that should stay went to the host as well.
void diagnose_moved(CheckContext& check) {
  const Count layers = number_of_layers(check.kase());
  if (layers > 2 && went_to_host(check, 0, layers - 2)) return check.diagnose("batch_moved");
  if (layers > 1 && went_to_host(check, 1, layers)) return check.diagnose("last_ones_moved");
  if (layers > 2 && went_to_host(check, 1, layers - 1)) check.diagnose("last_ones_moved");
}

/// One copy of each input that moves, in this direction.
bool copies_fit(CheckContext& check, HostLink way) {
  const Case& kase = check.kase();
  const bool to_host = way == HostLink::to_host;
  const front::Copies& found = check.counters(0).copies[static_cast<std::size_t>(way)];
  const std::vector<Event> all = copies(check, to_host ? front::Lane::to_host : front::Lane::to_device);
  const auto surplus = static_cast<std::size_t>(number_moved(kase));
  const Place where = all.empty() ? Place{} : place_of(all[std::min(surplus, all.size() - 1)]);
  const std::string whither = to_host ? "to the host" : "to the device";
  const Formula<Count> calls = named("inputs that move", number_moved(kase));
  if (check.exactly("copied " + whither, found.bytes, moved_bytes(kase), where) &&
      check.exactly("copies " + whither, found.calls, calls, "copies", where)) {
    return true;
  }
  const bool in_pieces = found.bytes == moved_bytes(kase).value() && found.calls > number_moved(kase);
  in_pieces ? check.diagnose("copied_in_pieces") : diagnose_moved(check);
  return false;
}

// ---- Time ----

/// A mistake in when inputs leave, where each has one copy: x[k+1] the k-th.
std::string mistake_of_leaving(const CheckContext& check, const std::vector<Event>& out) {
  const std::vector<Event> forwards = first_pass(check);
  if (forwards.size() < out.size() + 2) return "";
  bool late = true, in_one_layer = false;
  for (std::size_t l = 1; l <= out.size(); ++l) {
    const Event &copy = out[l - 1], &own = forwards[l], &next = forwards[l + 1];
    const bool started_late = copy.order > own.order;
    late = late && started_late;
    // The program stood still between the two layers until just this copy had ended.
    in_one_layer = in_one_layer || (!started_late && next.begin > own.end && next.begin == copy.end);
  }
  return late ? "leaves_late" : in_one_layer ? "left_in_one_layer" : "";
}

/// A mistake in when inputs come back: x[L-3-k] with the k-th copy, for which there is room in the turn of the layer
/// above it.
std::string mistake_of_return(const CheckContext& check, const std::vector<Event>& in, bool hidden) {
  const std::vector<Event> forwards = check.events(0, EventKind::forward),
                           backwards = check.events(0, EventKind::backward);
  if (std::ssize(backwards) != number_of_layers(check.kase()) || in.size() + 2 > backwards.size()) return "";
  bool when_needed = true, after_forward = true;
  for (std::size_t k = 0; k < in.size(); ++k) {
    const Event& above = backwards[k + 1];
    const auto again = std::find_if(forwards.rbegin(), forwards.rend(),
                                    [&](const Event& call) { return call.label.layer == above.label.layer; });
    when_needed = when_needed && in[k].order > above.order;
    after_forward = after_forward && again != forwards.rend() && in[k].order > again->order;
  }
  if (!hidden) return when_needed ? "fetched_when_needed" : "waited_for_return";
  return after_forward ? "fetched_late" : "";
}

void diagnose_time(CheckContext& check) {
  std::vector<Event> computing = check.events(0, EventKind::forward);
  const std::vector<Event> backwards = check.events(0, EventKind::backward);
  computing.insert(computing.end(), backwards.begin(), backwards.end());
  const std::vector<Event> out = copies(check, front::Lane::to_host), in = copies(check, front::Lane::to_device);
  if (out.empty() || in.empty() || check.counters(0).waited_for_host == Nanos(0)) return;
  const bool out_hidden = overlaps(out, computing), in_hidden = overlaps(in, computing);
  if (!out_hidden && !in_hidden) return check.diagnose("nothing_hidden");
  if (!out_hidden) return check.diagnose("waited_for_leaving");
  const std::string leaving = std::ssize(out) == number_moved(check.kase()) ? mistake_of_leaving(check, out) : "";
  const std::string coming =
      std::ssize(in) == number_moved(check.kase()) ? mistake_of_return(check, in, in_hidden) : "";
  check.diagnose(coming.empty() || (in_hidden && !leaving.empty()) ? leaving : coming);
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (check.equal_layers("grads", expected.grads, expected.grads_tolerance)) {
    check.equal_scalar("loss", expected.loss, expected.loss_tolerance);
    return;
  }
  const std::optional<double> ratio = constant_ratio(found_layers(check.result(), "grads"), expected.grads);
  const auto tokens = static_cast<double>(tokens_of_step(check.kase()));
  const auto targets = static_cast<double>(check.kase().batch * check.kase().model.sequence);
  if (tokens < targets && near(ratio, tokens / targets)) check.diagnose("padding_counted");
}

SHARDLINGS_CHECK(memory) {
  if (!check.peaks_at_most(device_budget(check.kase()))) return diagnose_device_memory(check);
  const front::MemoryUse& host = check.counters(0).host;
  if (check.at_most("host memory", host.peak, moved_bytes(check.kase()), {host.peak_file, host.peak_line})) return;
  const front::Copies& out = check.counters(0).copies[static_cast<std::size_t>(HostLink::to_host)];
  if (out.bytes == moved_bytes(check.kase()).value()) return check.diagnose("more_on_host");
  diagnose_moved(check);
}

SHARDLINGS_CHECK(communication) {
  if (copies_fit(check, HostLink::to_host)) copies_fit(check, HostLink::to_device);
}

SHARDLINGS_CHECK(work) {
  const Formula<Count> l = Letters(check.kase()).l;
  const std::vector<Event> forwards = check.events(0, EventKind::forward);
  const Count layers = l.value(), found = std::ssize(forwards);
  if (check.at_most("calls of forward", found, 2 * l - 1, "calls",
                    place_beyond(check, 0, EventKind::forward, 2 * layers - 1)) &&
      check.exactly("calls of backward", count_of(check, EventKind::backward), l, "calls")) {
    return;
  }
  std::vector<Count> times(static_cast<std::size_t>(layers));  // by layer
  for (const Event& event : forwards) ++times[static_cast<std::size_t>(event.label.layer)];
  if (found == 2 * layers && times.back() == 2) check.diagnose("last_layer_recomputed");
  if (*std::max_element(times.begin(), times.end()) > 2) check.diagnose("recomputed_too_often");
}

SHARDLINGS_CHECK(time) {
  const Standstill longest = longest_standstill(check, 0, Nanos(0), check.end_time(0));
  if (check.at_most("virtual time", check.end_time(0), time_budget(check.kase()), longest.place)) return;
  check.detail(fmt::format("the program stood still for copies: {}", to_text(check.counters(0).waited_for_host)));
  diagnose_time(check);
}

SHARDLINGS_PREDICTIONS("7 layers") {
  const Case& kase = predict.kase();
  const Letters letter(kase);
  const Count layers = number_of_layers(kase);
  const Formula<Bytes> peak = device_budget(kase), moved = moved_bytes(kase);
  predict.number("to_host", "How many bytes go to the host in the step?", moved, Question::Of::to_host)
      .unlike(named("x[1] to x[L-1]", Bytes(input_bytes(kase, 1, layers))),
              "The two last inputs are needed again before they could have left and come back.")
      .unlike(
          named("x[1] to x[L-2]", Bytes(input_bytes(kase, 1, layers - 1))),
          "Between the two forwards of layer L-2 only layer L-1 has its turn: x[L-2] would be fetched back at once.")
      .unlike(named("x[0] to x[L-3]", Bytes(input_bytes(kase, 0, layers - 2))), "x[0] is the batch, which stays there.")
      .unlike(2 * moved, "That is both directions.");
  predict.peak("peak", 0, "How many bytes of device memory are alive at the worst moment?", peak)
      .unlike(device_budget(kase, true), "That is with all inputs on the device: two neighbours are enough.")
      .unlike(fixed_bytes(kase), "There are two inputs and what the layer at work holds, too.");
  Nanos all_copies;
  for (Count l = 1; l < layers - 2; ++l) {
    all_copies += copy_time(kase, HostLink::to_host, l) + copy_time(kase, HostLink::to_device, l);
  }
  predict.end("time", "When does the step end?", time_budget(kase))
      .unlike(letter.l * (letter.f + letter.b), "All layers but the last one run forward twice.")
      .unlike(computing_time(kase) + named("all copies", all_copies), "The copies run beside the layers.");
}

// Judges activations in the host's memory: numbers of one device, two inputs on it, bytes of the link, hidden copies.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/checkpoint_plan.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/standstill.h"
#include "grading/formulas/training.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Event;
using front::EventKind;
using front::HostLink;

namespace {

// ---- What moves ----

/// Bytes of the inputs x[0], x[1], …
std::vector<std::int64_t> inputs_of(const Case& kase) {
  std::vector<std::int64_t> bytes;
  for (const LayerBytes& layer : layer_bytes(kase)) bytes.push_back(layer.input);
  return bytes;
}

/// Those of layers [begin, end); none if there are no such layers.
std::int64_t input_bytes(const Case& kase, Count begin, Count end) {
  const std::vector<std::int64_t> inputs = inputs_of(kase);
  return begin < end ? std::accumulate(inputs.begin() + begin, inputs.begin() + end, std::int64_t{0}) : 0;
}

/// x[0] is the batch, and the two last ones are needed again at once.
bool moves(const Case& kase, Count l) {
  return 0 < l && l < number_of_layers(kase) - 2;
}

Count number_moved(const Case& kase) {
  return std::max<Count>(0, number_of_layers(kase) - 3);
}

Formula<Bytes> moved_bytes(const Case& kase) {
  return named("x[1] to x[L-3]", Bytes(input_bytes(kase, 1, number_of_layers(kase) - 2)));
}

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

/// What is alive after the loss, beyond what has to be.
std::int64_t excess_at_loss(const CheckContext& check) {
  const Case& kase = check.kase();
  const auto losses = check.events(0, EventKind::loss);
  if (losses.empty()) return 0;
  const LayerBytes last = layer_bytes(kase).back();
  const std::int64_t needed = two_inputs(kase, number_of_layers(kase) - 1) + last.saved + last.output;
  return losses.front().live_after.value() - fixed_bytes(kase).value().value() - needed;
}

/// The bytes are what one or more of the layers right before the last one save.
bool are_saved_before_last(const Case& kase, std::int64_t bytes) {
  const std::vector<LayerBytes> layers = layer_bytes(kase);
  std::int64_t saved = 0;
  for (std::size_t l = layers.size() - 1; l-- > 0;) {
    saved += layers[l].saved;
    if (saved == bytes) return true;
  }
  return false;
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

void diagnose_device_memory(CheckContext& check) {
  const Case& kase = check.kase();
  const std::int64_t excess = excess_at_loss(check);
  const bool copied_out = !copies(check, front::Lane::to_host).empty();
  std::vector<const char*> reasons;
  if (are_saved_before_last(kase, excess)) reasons.push_back("saved_anyway");
  if (excess == moved_bytes(kase).value().value()) reasons.push_back(copied_out ? "not_freed" : "nothing_moved");
  if (excess == inputs_of(kase).front()) reasons.push_back("batch_copied");
  if (excess > 0 && reasons.size() == 1) check.diagnose(reasons.front());
  if (excess > 0) return;
  if (fetched_too_early(check)) return check.diagnose("fetched_too_early");
  const auto backwards = check.events(0, EventKind::backward);
  if (backwards.empty()) return;
  const std::int64_t left = backwards.back().live_after.value() - fixed_bytes(kase).value().value();
  if (left > 0 && left == input_bytes(kase, 1, number_of_layers(kase))) check.diagnose("activations_kept");
}

// ---- The link ----

/// Inputs that should stay went to the host as well.
void diagnose_moved(CheckContext& check, Bytes moved) {
  const Case& kase = check.kase();
  const Count layers = number_of_layers(kase);
  if (layers > 2 && moved == Bytes(input_bytes(kase, 0, layers - 2))) return check.diagnose("batch_moved");
  if (layers > 1 && moved == Bytes(input_bytes(kase, 1, layers))) return check.diagnose("last_ones_moved");
  if (layers > 2 && moved == Bytes(input_bytes(kase, 1, layers - 1))) check.diagnose("last_ones_moved");
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
  if (found.bytes == moved_bytes(kase).value() && found.calls > number_moved(kase)) {
    check.diagnose("copied_in_pieces");
  } else {
    diagnose_moved(check, found.bytes);
  }
  return false;
}

// ---- Time ----

Nanos copy_time(const Case& kase, HostLink way, Count l) {
  const front::LinkSpeed& link = kase.cluster.host_links[static_cast<std::size_t>(way)];
  const double seconds = static_cast<double>(input_bytes(kase, l, l + 1)) / link.bytes_per_second;
  return link.latency + Nanos(static_cast<std::int64_t>(seconds * 1e9 + 0.5));
}

/// How somebody waits.
struct Waits {
  bool leaves_in_one_layer = false;  ///< x[l] has the forward of layer l to leave, and not that of the next one
  bool fetches_late = false;         ///< a copy back starts between the second forward and backward
};

/// The step with each copy started as soon as there is something to copy and room for it, and waited for as late as the
/// memory allows; or with such mistakes.
Nanos end_of_step(const Case& kase, Waits waits = {}) {
  const Count layers = number_of_layers(kase);
  const front::CallTable& table = kase.cluster.table;
  Nanos now, out_free, in_free;
  std::vector<Nanos> gone(static_cast<std::size_t>(layers)), back = gone;
  const auto at = [](std::vector<Nanos>& times, Count l) -> Nanos& { return times[static_cast<std::size_t>(l)]; };
  for (Count l = 0; l < layers; ++l) {
    if (moves(kase, l)) {
      at(gone, l) = out_free = std::max(now, out_free) + copy_time(kase, HostLink::to_host, l);
    }
    now += table.forward;
    const Count leaves = waits.leaves_in_one_layer ? l : l - 1;
    if (moves(kase, leaves)) now = std::max(now, at(gone, leaves));
  }
  now += table.loss;
  for (Count l = layers - 1; l >= 0; --l) {
    if (moves(kase, l)) now = std::max(now, at(back, l));
    const Nanos again = l + 1 < layers ? table.forward : Nanos(0);
    if (moves(kase, l - 1)) {
      const Nanos posted = waits.fetches_late ? now + again : now;
      at(back, l - 1) = in_free = std::max(posted, in_free) + copy_time(kase, HostLink::to_device, l - 1);
    }
    now += again + table.backward;
  }
  return now;
}

Formula<Nanos> computing_time(const Case& kase) {
  const Letters letter(kase);
  return (2 * letter.l - 1) * letter.f + letter.l * letter.b;
}

Formula<Nanos> time_budget(const Case& kase) {
  const Formula<Nanos> computing = computing_time(kase);
  const Nanos exposed = end_of_step(kase) - computing.value();
  return exposed == Nanos(0) ? computing : computing + named("what copies take longer", exposed);
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
  if (!in_hidden) return check.diagnose("fetched_when_needed");
  const Nanos found = check.end_time(0), one_layer = end_of_step(check.kase(), {.leaves_in_one_layer = true}),
              late = end_of_step(check.kase(), {.fetches_late = true});
  if (found == one_layer && found != late) return check.diagnose("left_in_one_layer");
  if (found == late && found != one_layer) check.diagnose("fetched_late");
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
  diagnose_moved(check, out.bytes);
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
  const auto of_last = std::count_if(forwards.begin(), forwards.end(),
                                     [&](const Event& event) { return event.label.layer == layers - 1; });
  if (found == 2 * layers && of_last == 2) check.diagnose("last_layer_recomputed");
  if (found > 2 * layers) check.diagnose("recomputed_too_often");
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

#include "grading/formulas/gathered_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/formulas/step_cost.h"

namespace shardlings::grading::formulas {
namespace {

using front::Collective;
using front::Event;
using front::EventKind;

consteval SharedId in_unit_memory(std::string_view id) {
  return {"diagnose_unit_memory", id};
}
consteval SharedId in_unit_calls(std::string_view id) {
  return {"unit_calls_mistake", id};
}
consteval SharedId in_gathers(std::string_view id) {
  return {"gathered_too_often", id};
}
consteval SharedId in_unit_time(std::string_view id) {
  return {"unit_time_mistake", id};
}

/// What should be alive when a call of forward or backward of layer l has ended: in the first step.
std::int64_t planned_after(const cases::Case& node, int rank, EventKind kind, std::size_t l) {
  const std::vector<LayerBytes> layers = layer_bytes(node);
  const bool forward = kind == EventKind::forward;
  const StepPeak there = step_peak(node, rank % node.ranks, 3);
  std::int64_t bytes = there.weights + there.gradients + there.optimizer + there.batch +
                       (forward ? layers[l].output : layers[l].input_gradient);
  for (std::size_t i = 0; i <= l; ++i) bytes += layers[i].input + (forward || i < l ? layers[i].saved : 0);
  const bool at_the_turn = forward && l + 1 == layers.size();  // what is needed next is the layer below
  bytes += layers[l].weights + weights_at(layers, forward && !at_the_turn ? l + 1 : l - 1);
  return bytes + (forward ? 0 : layers[l].weights + weights_at(layers, l + 1));
}

/// Whole weights on a rank: the most that is alive at any time of a span, and since when.
struct MostWhole {
  Bytes found, planned;
  Nanos time;
  Bytes excess() const { return found - planned; }
};

enum class Span { first_forward, whole_run };

/// Planned are two of the longest layer: more cannot be two units.
MostWhole most_whole(const judge::CheckContext& check, const cases::Case& node, int rank, Span span) {
  const std::vector<LayerBytes> layers = layer_bytes(node);
  MostWhole most;
  for (const LayerBytes& layer : layers) most.planned = std::max(most.planned, Bytes(2 * layer.weights));
  const std::vector<Event> backwards = check.events(rank, EventKind::backward);
  const Bytes parts(sum_of(part_bytes(node, rank % node.ranks)));
  for (const front::MemoryPoint& point : check.trace(rank).memory) {
    const bool in_forward = !backwards.empty() && point.time <= backwards.front().begin;
    if (span == Span::first_forward && !in_forward) break;
    const Bytes whole = point.live[static_cast<std::size_t>(Kind::parameter)] - parts;
    if (whole <= most.found) continue;
    most.found = whole;
    most.time = point.time;
  }
  return most;
}

/// The first such call of layer l.
std::optional<Event> first_call(const judge::CheckContext& check, int rank, EventKind kind, std::size_t l) {
  for (const Event& event : check.events(rank, kind)) {
    if (event.label.layer == static_cast<std::int32_t>(l)) return event;
  }
  return std::nullopt;
}

/// Bytes beyond what is needed after it.
std::int64_t excess_after(const judge::CheckContext& check, const cases::Case& node, int rank, EventKind kind,
                          std::size_t l) {
  const std::optional<Event> event = first_call(check, rank, kind, l);
  return event ? event->live_after.value() - planned_after(node, rank, kind, l) : 0;
}

/// Bytes of weights, or of gradients, beyond what is needed after backward of layer 0.
std::int64_t excess_at_end(const judge::CheckContext& check, const cases::Case& node, int rank, Kind kind) {
  const std::optional<Event> last = first_call(check, rank, EventKind::backward, 0);
  const auto kinds = last ? alive_after(check, rank, *last) : std::nullopt;
  if (!kinds) return 0;
  const std::vector<LayerBytes> layers = layer_bytes(node);
  const StepPeak there = step_peak(node, rank % node.ranks, 3);
  const bool weights = kind == Kind::parameter;  // those of layer 0; gradients of layer 1 are still on their way
  const std::int64_t planned =
      weights ? there.weights + layers[0].weights : there.gradients + layers[0].weights + weights_at(layers, 1);
  return (*kinds)[static_cast<std::size_t>(kind)].value() - planned;
}

/// From forward of layer 1 on, as long as there is a next one, the weights of layer 0 are there beside those two.
/// Layers as large as that one, dropped a layer late, would be as much: then it is certain where layer 0 is not
/// gathered again.
bool first_unit_stays(const judge::CheckContext& check, const cases::Case& node, int rank,
                      const std::vector<LayerBytes>& layers) {
  const auto excess = [&](std::size_t l) { return excess_after(check, node, rank, EventKind::forward, l); };
  bool can_be_another = true;
  for (std::size_t l = 1; l + 1 < layers.size(); ++l) {
    if (excess(l) != layers.front().weights) return false;
    can_be_another = can_be_another && layers[l - 1].weights == layers.front().weights;
  }
  return layers.size() > 2 && excess(0) == 0 && (!can_be_another || gathers_of_layer(check, rank, 0) == 1);
}

/// The bytes are those of a layer.
bool is_unit(const std::vector<LayerBytes>& layers, std::int64_t bytes) {
  return std::any_of(layers.begin(), layers.end(), [&](const LayerBytes& layer) { return layer.weights == bytes; });
}

/// Layers that follow one another are there beside the one that has gone forward and the one that is needed next: those
/// behind the two, or those before.
bool has_other_units(const std::vector<LayerBytes>& layers, std::size_t l, std::int64_t excess) {
  const bool at_the_turn = l + 1 == layers.size();
  std::int64_t behind = 0, before = 0;
  for (std::size_t i = l + 2; i < layers.size(); ++i) {
    behind += layers[i].weights;
    if (behind == excess) return true;
  }
  for (std::size_t i = at_the_turn ? l - 1 : l; i-- > 0 && i < layers.size();) {
    before += layers[i].weights;
    if (before == excess) return true;
  }
  return false;
}

/// Where a layer does not go forward nothing can be said of its memory.
bool all_layers_go_forward(judge::CheckContext& check, int rank, std::size_t layers) {
  for (std::size_t l = 0; l < layers; ++l) {
    if (first_call(check, rank, EventKind::forward, l)) continue;
    return check.fail(fmt::format("forward of layer {} on {}", l, check.name_of(rank)), "no such call");
  }
  return true;
}

/// Sums over layers of what is too much in typical mistakes.
struct Excesses {
  std::int64_t above = 0;   ///< weights of layers 2 and up
  std::int64_t below = 0;   ///< weights of all layers but the last
  std::int64_t inputs = 0;  ///< inputs of layers 1 and up
  explicit Excesses(const std::vector<LayerBytes>& layers) {
    for (std::size_t l = 0; l < layers.size(); ++l) {
      above += l >= 2 ? layers[l].weights : 0;
      below += l + 1 < layers.size() ? layers[l].weights : 0;
      inputs += l >= 1 ? layers[l].input : 0;
    }
  }
};

/// The excess after backward of layer 0 is another set of parts: of all layers, or without that of layer 0 and the one
/// of layer 1, which may be made later.
bool has_copied_parts(const cases::Case& node, int rank, std::int64_t at_end) {
  const std::vector<std::int64_t> parts = part_bytes(node, rank % node.ranks);
  std::int64_t copied = sum_of(parts);
  for (std::size_t l = 0; l < 3 && l < parts.size(); ++l) {
    if (copied > 0 && at_end == copied) return true;
    copied -= parts[l];
  }
  return false;
}

/// After the transfer the next of the calls has to wait for a message as well: then it is not the transfer that delays
/// it.
bool message_comes_later(const std::vector<Event>& messages, const Event& transfer, const std::vector<Event>& calls) {
  const auto next =
      std::find_if(calls.begin(), calls.end(), [&](const Event& call) { return call.begin >= transfer.end; });
  return next != calls.end() && std::any_of(messages.begin(), messages.end(), [&](const Event& message) {
           return message.end > transfer.end && message.end <= next->begin;
         });
}

/// Between two of the calls, which never run beside one, there are transfers, and the later call waits for them.
bool takes_turns(const judge::CheckContext& check, int rank, const std::vector<Event>& transfers, EventKind kind) {
  const std::vector<Event> calls = check.events(rank, kind), messages = check.events(rank, EventKind::recv);
  if (calls.empty() || overlaps(transfers, calls)) return false;
  return std::any_of(transfers.begin(), transfers.end(), [&](const Event& transfer) {
    return transfer.end > transfer.begin && transfer.begin >= calls.front().end && transfer.end <= calls.back().begin &&
           !message_comes_later(messages, transfer, calls);
  });
}

}  // namespace

bool holds_two_units(judge::CheckContext& check, const cases::Case& node, int rank) {
  const auto layers = static_cast<std::size_t>(number_of_layers(node));
  if (!all_layers_go_forward(check, rank, layers)) return false;
  std::size_t worst = 0;
  std::int64_t excess = excess_after(check, node, rank, EventKind::forward, 0);
  for (std::size_t l = 1; l < layers; ++l) {
    const std::int64_t here = excess_after(check, node, rank, EventKind::forward, l);
    if (here > excess) worst = l;
    excess = std::max(excess, here);
  }
  const Event at_worst = first_call(check, rank, EventKind::forward, worst).value();
  const wire::Place where = {std::string(base_name(at_worst.at.file)), at_worst.at.line};
  const std::vector<LayerBytes> bytes = layer_bytes(node);
  const StepPeak there = step_peak(node, rank % node.ranks, 3);
  const std::int64_t planned = planned_after(node, rank, EventKind::forward, worst);
  const std::int64_t parts = there.weights + there.gradients + there.optimizer;
  const std::int64_t units = bytes[worst].weights + weights_at(bytes, worst + 1 < layers ? worst + 1 : worst - 1);
  const judge::Formula<Bytes> budget = judge::named("parts", Bytes(parts)) +
                                       judge::named("batch and loss", Bytes(there.batch)) +
                                       judge::named("activations", Bytes(planned - parts - there.batch - units)) +
                                       judge::named("two units of weights", Bytes(units));
  if (!check.at_most(fmt::format("memory of {} after forward of layer {}", check.name_of(rank), worst),
                     budget.value() + Bytes(excess), budget, where)) {
    return false;
  }
  const MostWhole most = most_whole(check, node, rank, Span::whole_run);
  const std::vector<Event> gathers = collectives(check, rank, Collective::all_gather);
  const auto last =
      std::find_if(gathers.rbegin(), gathers.rend(), [&](const Event& gather) { return gather.posted <= most.time; });
  return check.at_most(fmt::format("whole weights on {} at any time", check.name_of(rank)), most.found,
                       judge::named("two units of the longest layer", most.planned),
                       last == gathers.rend() ? wire::Place{} : judge::place_of(*last));
}

void diagnose_unit_memory(judge::CheckContext& check, const cases::Case& node, int rank) {
  const std::vector<LayerBytes> layers = layer_bytes(node);
  const Excesses typical(layers);
  const std::int64_t at_start = excess_after(check, node, rank, EventKind::forward, 0);
  if (layers.size() > 3 && at_start >= typical.above) return check.diagnose(in_unit_memory("gathered_at_once"));
  const std::int64_t at_turn = excess_after(check, node, rank, EventKind::forward, layers.size() - 1);
  const std::int64_t one_more = weights_at(layers, layers.size() - 2);  // than is allowed at the turn
  if (layers.size() > 2 && at_turn >= typical.below - one_more) return check.diagnose(in_unit_memory("not_resharded"));
  if (first_unit_stays(check, node, rank, layers)) return check.diagnose(in_unit_memory("first_unit_stays"));
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const std::int64_t excess = excess_after(check, node, rank, EventKind::forward, l);
    if (excess <= 0) continue;
    if (has_other_units(layers, l, excess)) check.diagnose(in_unit_memory("prefetched_too_far"));
    return;
  }
  const auto third_for_a_moment = [&](Span span) {
    return layers.size() > 2 && is_unit(layers, most_whole(check, node, rank, span).excess().value());
  };
  if (third_for_a_moment(Span::first_forward)) return check.diagnose(in_unit_memory("third_at_gather"));
  if (keeps_inputs(check, rank)) return check.diagnose(in_unit_memory("activations_kept"));
  const std::int64_t at_end = excess_after(check, node, rank, EventKind::backward, 0);
  const std::int64_t part = sum_of(part_bytes(node, rank % node.ranks));
  const std::int64_t weights = excess_at_end(check, node, rank, Kind::parameter);
  if (weights <= 0 && has_copied_parts(node, rank, at_end)) {
    if (node.ranks > 1) check.diagnose(in_unit_memory("parts_copied"));
    return;  // alone a rank's parts are whole layers: they cannot be told from what was gathered or filled
  }
  const std::int64_t gradients = excess_at_end(check, node, rank, Kind::gradient);
  if (typical.above > 0 && gradients >= typical.above) return check.diagnose(in_unit_memory("gradients_kept"));
  if (typical.above > 0 && weights >= typical.above && weights != part) {  // nor a copy of the parts
    return check.diagnose(in_unit_memory("not_resharded_in_backward"));
  }
  const std::vector<std::int64_t> parts = part_bytes(node, rank % node.ranks);
  const auto is_third = [&](std::int64_t bytes) {  // and no part: alone, a rank has parts as long as layers
    return layers.size() > 2 && is_unit(layers, bytes) && std::find(parts.begin(), parts.end(), bytes) == parts.end();
  };
  if (is_third(weights) || is_third(gradients)) return check.diagnose(in_unit_memory("third_unit"));
  if (third_for_a_moment(Span::whole_run)) check.diagnose(in_unit_memory("third_at_gather"));
}

std::int64_t gathers_of_layer(const judge::CheckContext& check, int rank, Count layer) {
  const std::vector<Event> gathers = collectives(check, rank, Collective::all_gather);
  const std::vector<Event> updates = check.events(rank, EventKind::update);
  const auto in_first_step = [&](const Event& event) {
    return event.label.layer == layer && (updates.empty() || event.order < updates.front().order);
  };
  std::vector<Event> backwards = check.events(rank, EventKind::backward);
  std::erase_if(backwards, [&](const Event& call) { return !in_first_step(call); });
  return std::count_if(gathers.begin(), gathers.end(), [&](const Event& gather) {
    return in_first_step(gather) && (backwards.empty() || gather.order < backwards.back().order);
  });
}

SharedId unit_calls_mistake(const judge::CheckContext& check, int rank, const cases::Case& node) {
  const front::Counters& counters = check.counters(rank);
  const std::int64_t layers = number_of_layers(node) * node.steps;
  const std::int64_t gathers = counters.calls(Collective::all_gather);
  const std::int64_t scatters = counters.calls(Collective::reduce_scatter);
  const Bytes gathered(node.steps * 2 * sum_of(all_gather_bytes(node, rank % node.ranks)));
  const Bytes scattered(node.steps * sum_of(reduce_scatter_bytes(node, rank % node.ranks)));
  if (cut_into_pieces(check, rank, Collective::all_gather, 2 * layers, gathered) ||
      cut_into_pieces(check, rank, Collective::reduce_scatter, layers, scattered)) {
    return in_unit_calls("in_pieces");
  }
  const bool missing = gathers < 2 * layers - node.steps || scatters < layers;
  const std::int64_t others = counters.calls(Collective::broadcast) + counters.calls(Collective::reduce) +
                              static_cast<std::int64_t>(check.events(rank, EventKind::send).size());
  if (missing && others > 0) return in_unit_calls("part_by_part");
  const bool all_reduces = counters.calls(Collective::all_reduce) >= layers;
  if (all_reduces && scatters < layers && gathers >= layers) return in_unit_calls("all_reduced");
  return all_reduces && gathers < layers && scatters >= layers ? in_unit_calls("gathered_by_all_reduce") : SharedId();
}

bool gathers_by_layer(judge::CheckContext& check, int rank) {
  const cases::Case& kase = check.kase();
  const front::Counters& counters = check.counters(rank);
  const judge::Formula<Count> most = in_all_steps(kase, folded(2 * Letters(kase).l - 1));
  const std::int64_t found = counters.calls(Collective::all_gather);
  const std::int64_t others = counters.calls(Collective::broadcast) + counters.calls(Collective::reduce) +
                              static_cast<std::int64_t>(check.events(rank, EventKind::send).size());
  const bool fewer = found >= number_of_layers(kase) * kase.steps && found < most.value();
  if (fewer && others == 0) {
    return check.at_most("all-gathers of " + check.name_of(rank), found, most, "all-gathers", {});
  }
  return calls_exactly(check, rank, Collective::all_gather, most);
}

SharedId gathered_too_often(const judge::CheckContext& check, int rank) {
  const Count last = number_of_layers(check.kase()) - 1;
  if (last > 0 && gathers_of_layer(check, rank, last) == 2) return in_gathers("gathered_again_at_the_turn");
  const bool once_more = gathers_of_layer(check, rank, 0) > (last > 0 ? 2 : 1);
  return once_more ? in_gathers("first_layer_once_more") : SharedId();
}

SharedId unit_time_mistake(const judge::CheckContext& check, int rank) {
  if (!check.events(rank, EventKind::copy).empty()) return in_unit_time("parked_on_host");
  const auto gathers = collectives(check, rank, Collective::all_gather);
  if (takes_turns(check, rank, gathers, EventKind::forward)) return in_unit_time("not_prefetched_in_forward");
  if (takes_turns(check, rank, gathers, EventKind::backward)) return in_unit_time("not_prefetched_in_backward");
  const auto scatters = collectives(check, rank, Collective::reduce_scatter);
  return takes_turns(check, rank, scatters, EventKind::backward) ? in_unit_time("reduce_waited_at_once") : SharedId();
}

}  // namespace shardlings::grading::formulas

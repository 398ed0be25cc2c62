// Judges a pipeline of sharded stages: numbers of one device, units gathered once a pass, memory, time.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>

#include "grading/formulas/breadth_first.h"
#include "grading/formulas/gathered_units.h"
#include "grading/formulas/pipeline_checks.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/formulas/tensor_parallel.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::Event;
using front::EventKind;

namespace {

int stage_of(const Case& kase, int rank) {
  return rank / data_axis(kase).ranks;
}

Pipeline pipeline_in(const Case& kase) {
  return pipeline_of(pipeline_axis(kase));
}

/// What each rank adds to the loss: those of the last stage have it, by their micro-batches.
std::vector<double> losses_by_rank(const Case& kase) {
  const std::vector<double> shares = loss_shares(data_axis(kase));
  std::vector<double> losses(static_cast<std::size_t>(kase.ranks), 0);
  std::copy(shares.begin(), shares.end(), losses.end() - static_cast<std::ptrdiff_t>(shares.size()));
  return losses;
}

void diagnose_gradients(CheckContext& check) {
  const Case data = data_axis(check.kase());
  const Layers& right = check.reference().grads;
  const Layers found = found_layers(check.result(), "grads");
  if (found.size() != right.size()) return;
  if (!all_finite(found)) return check.diagnose("gradient_not_zeroed");
  const std::optional<double> ratio = constant_ratio(found, right);
  if (ratio == 0) return check.diagnose("parts_untouched");
  if (data.ranks > 1 && near(ratio, data.ranks)) return check.diagnose("reduced_twice");
  if (data.ranks > 1 && near(ratio, 1.0 / data.ranks)) return check.diagnose("averaged");
  if (alike(found, gradient_of_micro(data, data.micro_batches - 1))) return check.diagnose("last_micro_batch_only");
  if (alike(found, from_parts(data, check.reference().local_grads))) check.diagnose("not_reduced");
}

Bytes sent_by_collectives(const CheckContext& check, int rank) {
  return check.counters(rank).bytes_sent() - check.counters(rank).bytes_sent(Collective::send_recv);
}

/// Forward, each micro-batch goes through all chunks of the rank before the next one starts.
bool depth_first_in_forward(const CheckContext& check, int rank) {
  const Pipeline pipeline = pipeline_in(check.kase());
  if (pipeline.v < 2 || pipeline.m < 2) return false;
  const auto forwards = check.events(rank, EventKind::forward);
  return std::is_sorted(forwards.begin(), forwards.end(),
                        [](const Event& a, const Event& b) { return a.label.micro < b.label.micro; });
}

/// In forward, a chunk comes again after a later one: not all micro-batches have gone through it at once.
bool goes_back_to_a_chunk(const Order& order) {
  int latest = 0;
  for (const Slot& slot : order) {
    if (slot.forward && slot.chunk < latest) return true;
    if (slot.forward) latest = slot.chunk;
  }
  return false;
}

/// What is wrong with the order of the rank's slots, if something is.
std::string order_mistake(const CheckContext& check, int rank) {
  const Pipeline pipeline = pipeline_in(check.kase());
  if (most_in_flight(order_found(check, pipeline, 0)) < pipeline.m * pipeline.v) return "depth_first";
  if (depth_first_in_forward(check, rank)) return "depth_first_in_forward";
  return goes_back_to_a_chunk(order_found(check, pipeline, 0)) ? "chunks_in_turns" : "";
}

/// The last chunk is gathered before it goes forward, and once more when all micro-batches have gone through it.
bool gathers_again_at_the_turn(const CheckContext& check, int rank) {
  const Pipeline pipeline = pipeline_in(check.kase());
  const Count layer = pipeline.layers_of(stage_of(check.kase(), rank), pipeline.v - 1).begin;
  std::vector<Event> forwards = check.events(rank, EventKind::forward);
  std::erase_if(forwards, [&](const Event& call) { return call.label.layer != layer; });
  std::vector<Event> gathers = collectives(check, rank, Collective::all_gather);
  std::erase_if(gathers, [&](const Event& gather) { return gather.label.layer != layer; });
  return !forwards.empty() && gathers.size() == 2 && gathers[0].posted <= forwards.front().begin &&
         gathers[1].posted >= forwards.back().end;
}

void diagnose_bytes(CheckContext& check, int rank) {
  const std::string order = order_mistake(check, rank);
  if (!order.empty()) return check.diagnose(order);
  const front::Counters& counters = check.counters(rank);
  const Pipeline pipeline = pipeline_in(check.kase());
  const std::int64_t layers = pipeline.num_layers_of(stage_of(check.kase(), rank));
  const bool enough = sent_by_collectives(check, rank) <= gathered_bytes(check.kase(), rank).value();
  if (enough && data_axis(check.kase()).ranks > 1) {
    return check.diagnose("called_in_pieces");  // and still too many calls
  }
  std::int64_t most = 0;  // gathers of one layer
  const int stage = stage_of(check.kase(), rank);
  for (int chunk = 0; chunk < pipeline.v; ++chunk) {
    const Range own = pipeline.layers_of(stage, chunk);
    for (Count l = own.begin; l < own.end; ++l) {
      most = std::max(most, gathers_of_layer(check, rank, l));
    }
  }
  if (most > 2 && most > pipeline.m) return check.diagnose("gathered_per_micro_batch");
  const std::int64_t scatters = counters.calls(Collective::reduce_scatter);
  if (scatters > layers && scatters >= pipeline.m * layers) return check.diagnose("scattered_per_micro_batch");
  if (counters.calls(Collective::all_reduce) > 0 && scatters < layers) return check.diagnose("all_reduced");
  if (gathers_again_at_the_turn(check, rank)) check.diagnose("gathered_again_at_the_turn");
}

/// What is alive after each slot, if the rank goes through its chunks as it should; else nothing. Micro-batches are
/// equally large, so that their order makes no difference.
std::vector<std::int64_t> alive_after_slots(const CheckContext& check, int rank) {
  const Pipeline pipeline = pipeline_in(check.kase());
  const int stage = stage_of(check.kase(), rank);
  std::vector<std::int64_t> alive;
  const Order order = breadth_first(pipeline);
  Count calls = 0;
  for (const Event& event : check.trace(rank).events) {
    if (event.depth != 0 || (event.kind != EventKind::forward && event.kind != EventKind::backward)) continue;
    if (alive.size() == order.size()) return {};
    const Slot& slot = order[alive.size()];
    const Range own = pipeline.layers_of(stage, slot.chunk);
    const bool in_chunk = event.label.layer >= own.begin && event.label.layer < own.end;
    if (slot.forward != (event.kind == EventKind::forward) || !in_chunk) return {};
    if (++calls < own.size()) continue;
    alive.push_back(event.live_after.value());
    calls = 0;
  }
  return alive.size() == order.size() ? alive : std::vector<std::int64_t>();
}

/// Bytes of whole weights of a rank's chunks [first, end).
std::int64_t weights_of_chunks(const Pipeline& pipeline, int stage, int first, int end) {
  std::int64_t bytes = 0;
  for (int chunk = first; chunk < end; ++chunk) {
    const Range own = pipeline.layers_of(stage, chunk);
    for (Count l = own.begin; l < own.end; ++l) bytes += pipeline.layers[static_cast<std::size_t>(l)].weights;
  }
  return bytes;
}

/// The most of a kind that a rank needs: its parts, and any two of its chunks that follow one another.
Formula<Bytes> parts_and_two_units(const Case& kase, int rank) {
  const Case data = data_axis(kase);
  const Pipeline pipeline = pipeline_in(kase);
  const int stage = stage_of(kase, rank);
  const std::vector<std::int64_t> parts = part_bytes(data, rank % data.ranks);
  std::int64_t own_parts = 0, two_units = 0;
  for (int chunk = 0; chunk < pipeline.v; ++chunk) {
    const Range own = pipeline.layers_of(stage, chunk);
    for (Count l = own.begin; l < own.end; ++l) own_parts += parts[static_cast<std::size_t>(l)];
    two_units = std::max(two_units, weights_of_chunks(pipeline, stage, chunk, std::min(chunk + 2, pipeline.v)));
  }
  return named("parts", Bytes(own_parts)) + named("two units", Bytes(two_units));
}

/// The most bytes of a kind that are alive at any time; of the kinds at the peak of all, the counters tell.
Bytes most_of(const CheckContext& check, int rank, Kind kind) {
  Bytes most;
  for (const front::MemoryPoint& point : check.trace(rank).memory) {
    most = std::max(most, point.live[static_cast<std::size_t>(kind)]);
  }
  return most;
}

/// At its peak the rank has more gradients than those.
bool too_many_gradients(const CheckContext& check, int rank) {
  return check.counters(rank).peak_by_kind[static_cast<std::size_t>(Kind::gradient)] >
         parts_and_two_units(check.kase(), rank).value();
}

/// Why there are more gradients than those of two units, by what is too much when backward begins and ends.
std::string gradients_mistake(std::int64_t at_turn, std::int64_t at_end, std::int64_t others) {
  if (at_turn > 0) return "gradients_made_early";
  return others > 0 && at_end >= others ? "gradients_kept" : "more_than_two_units";
}

void diagnose_memory(CheckContext& check, int rank) {
  const std::string order = order_mistake(check, rank);
  if (!order.empty()) return check.diagnose(order);
  const std::vector<std::int64_t> alive = alive_after_slots(check, rank);
  if (alive.empty()) return;
  const Pipeline pipeline = pipeline_in(check.kase());
  const int stage = stage_of(check.kase(), rank);
  const std::vector<std::int64_t> planned = breadth_first_memory(check.kase(), rank).after;
  const auto excess = [&](std::size_t slot) { return alive[slot] - planned[slot]; };
  const std::int64_t others = weights_of_chunks(pipeline, stage, 2, pipeline.v);  // than one in use and one ahead
  if (others > 0 && excess(0) >= others) return check.diagnose("gathered_at_once");
  if (excess(0) > 0) return check.diagnose("prefetched_too_far");
  const std::int64_t before = weights_of_chunks(pipeline, stage, 0, pipeline.v - 2);  // and one may be there again
  if (before > 0 && excess(alive.size() / 2 - 1) >= before) return check.diagnose("not_resharded");
  if (too_many_gradients(check, rank))
    return check.diagnose(gradients_mistake(excess(alive.size() / 2), excess(alive.size() - 1), others));
  const std::int64_t below = weights_of_chunks(pipeline, stage, 0, pipeline.v - 2);  // than the last and one ahead
  if (below > 0 && excess(alive.size() / 2) >= below) return check.diagnose("gathered_at_once_in_backward");
  const std::int64_t at_end = excess(alive.size() - 1);
  if (at_end >= others && others > 0) return check.diagnose("not_resharded_in_backward");
  if (at_end > 0) return check.diagnose("more_than_two_units");
  const Bytes weights = most_of(check, rank, Kind::parameter);
  if (weights > parts_and_two_units(check.kase(), rank).value()) check.diagnose("third_at_gather");
}

void diagnose_time(CheckContext& check, int rank) {
  const std::string order = order_mistake(check, rank);
  if (!order.empty()) return check.diagnose(order);
  const std::string mistake = unit_time_mistake(check, rank);
  if (!mistake.empty()) return check.diagnose(mistake);
  if (data_axis(check.kase()).ranks > 1) check.diagnose("started_late");
}

/// One gather for each layer and pass, but only one of the last chunk's, and one reduce-scatter.
Formula<Count> collectives_in(const Pipeline& pipeline, int stage) {
  return 3 * named("layers of its chunks", pipeline.num_layers_of(stage)) -
         named("those of the last one", pipeline.layers_of(stage, pipeline.v - 1).size());
}

/// Each layer goes forward once for each micro-batch.
bool computes_once(CheckContext& check) {
  const Pipeline pipeline = pipeline_in(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Formula<Count> calls =
        named("m", pipeline.m) * named("layers", pipeline.num_layers_of(stage_of(check.kase(), rank)));
    if (check.at_most("forward calls of " + check.name_of(rank), check.counters(rank).layer_forwards, calls, "calls",
                      check.place_of_first(rank, EventKind::backward))) {
      continue;
    }
    check.diagnose("forward_twice");
    return false;
  }
  return true;
}

/// The peak lies in backward, where two units and two gradients meet: what a third unit takes before does not show
/// there.
bool holds_two_units(CheckContext& check, int rank) {
  const std::vector<std::int64_t> alive = alive_after_slots(check, rank);
  const std::vector<std::int64_t> planned = breadth_first_memory(check.kase(), rank).after;
  if (alive.empty() && !computes_once(check)) return false;
  if (alive.empty()) {
    return check.fail("all micro-batches through one chunk of " + check.name_of(rank) + " before any enters the next",
                      "another order of its forward and backward calls",
                      check.place_of_first(rank, EventKind::forward));
  }
  std::size_t worst = 0;
  for (std::size_t slot = 1; slot < alive.size() / 2; ++slot) {
    if (alive[slot] - planned[slot] > alive[worst] - planned[worst]) worst = slot;
  }
  const Slot slot = breadth_first(pipeline_in(check.kase()))[worst];
  return check.at_most(fmt::format("memory of {} after forward of micro-batch {} through chunk {}", check.name_of(rank),
                                   slot.micro, slot.chunk),
                       Bytes(alive[worst]), breadth_first_memory_after(check.kase(), rank, worst),
                       check.place_of_first(rank, EventKind::forward)) &&
         check.at_most("weights on " + check.name_of(rank) + " at any time", most_of(check, rank, Kind::parameter),
                       parts_and_two_units(check.kase(), rank), check.place_of_first(rank, EventKind::collective));
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) return diagnose_gradients(check);
  if (!check.equal("loss by rank", losses_by_rank(check.kase()), expected.loss_tolerance)) return;
  if (!check.equal_layers("weights left", expected.weights_before, scaled(expected.weights_before, 0))) {
    check.diagnose("weights_lost");
  }
}

SHARDLINGS_CHECK(communication) {
  const Pipeline pipeline = pipeline_in(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!check.at_most("sent in collectives by " + check.name_of(rank), sent_by_collectives(check, rank),
                       gathered_bytes(check.kase(), rank), check.place_of_last(rank, EventKind::collective))) {
      check.detail(fmt::format("it called all_gather {} times, reduce_scatter {} times, for {} layers",
                               check.counters(rank).calls(Collective::all_gather),
                               check.counters(rank).calls(Collective::reduce_scatter),
                               pipeline.num_layers_of(stage_of(check.kase(), rank))));
      return diagnose_bytes(check, rank);
    }
    if (!check.at_most("collectives of " + check.name_of(rank),
                       num_collectives(check, rank) - std::ssize(check.events(rank, EventKind::send)),
                       collectives_in(pipeline, stage_of(check.kase(), rank)), "calls",
                       check.place_of_first(rank, EventKind::collective))) {
      return diagnose_bytes(check, rank);
    }
    // Weights that go as messages are no cheaper.
    if (!check.at_most("sent in messages by " + check.name_of(rank),
                       check.counters(rank).bytes_sent(Collective::send_recv),
                       message_bytes(pipeline, stage_of(check.kase(), rank)))) {
      return check.diagnose("layers_in_messages");
    }
  }
}

SHARDLINGS_CHECK(memory) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!check.at_most("memory of the host that " + check.name_of(rank) + " has used", check.counters(rank).host.peak,
                       named("none", Bytes(0)),
                       {check.counters(rank).host.peak_file, check.counters(rank).host.peak_line})) {
      return check.diagnose("parked_on_host");
    }
    if (!check.peak_at_most(rank, breadth_first_memory(check.kase(), rank).peak) || !holds_two_units(check, rank)) {
      return diagnose_memory(check, rank);
    }
  }
}

SHARDLINGS_CHECK(time) {
  if (!computes_once(check)) return;
  if (!finishes_within(check, breadth_first_time(check.kase()))) diagnose_time(check, check.slowest_rank());
}

SHARDLINGS_PREDICTIONS("2 stages x 2, 4 chunks, 4 micro-batches") {
  const Case& kase = predict.kase();
  const Pipeline pipeline = pipeline_in(kase);
  const Letters letter(kase);
  const Formula<Bytes> gathered = gathered_bytes(kase, 0), messages = message_bytes(pipeline, stage_of(kase, 0));
  const Formula<Nanos> work = letter.m * named("layers of a rank", pipeline.num_layers_of(0)) * (letter.f + letter.b);
  const Formula<Bytes> peak = breadth_first_memory(kase, 0).peak;
  predict.sent("sent", 0, "How many bytes does rank 0 send in all, collectives and messages?", gathered + messages)
      .unlike(gathered, "Messages between the stages are missing.")
      .unlike(letter.m * gathered + messages,
              "That is gathering again for each micro-batch: breadth first does it once.");
  predict.peak("peak", 0, "How many bytes of device memory are alive on rank 0 at the worst moment?", peak)
      .unlike(
          memory_along(pipeline_axis(kase), stage_of(kase, 0), breadth_first(pipeline), {.rounds_in_flight = true})
              .peak,
          "Those are whole weights and gradients all the time. Two units are whole, and of the rest there are parts.");
  predict.end("time", "When does the step end, with everything hidden that can be?", breadth_first_time(kase))
      .unlike(work,
              "That is one rank's work. The pipeline has to fill and to drain, the first chunk to be gathered, and "
              "the last gradient to be scattered.");
}

SHARDLINGS_PREDICTIONS_AFTER("2 stages x 2, 4 chunks, 4 micro-batches") {
  const Pipeline pipeline = pipeline_in(predict.kase());
  const Formula<Count> m = named("m", pipeline.m), v = named("v", pipeline.v), p = named("p", pipeline.p);
  predict.answer(1)
      .count("gathers",
             "With 1F1B, and two units at most on a rank: how often does a rank gather in the step of this case?",
             2 * (m * v) / p, "gathers")
      .unlike(2 * v - 1, "That is breadth first, which gathers a chunk once in each direction.")
      .unlike(2 * (m * v), "A chunk stays while p micro-batches go through it.")
      .unlike(m * v / p, "That is one direction.");
  const Formula<Count> width = named("h", 16'384);
  predict.answer(3)
      .count("tokens",
             "h = 16,384, and a chunk is a block of 12 h x h weights: up to how many tokens of a replica in a step "
             "does the "
             "axis \"data\" send more than the axis \"pipeline\"?",
             18 * width, "tokens")
      .unlike(6 * width, "Weights are gathered twice, and gradients scattered once.")
      .unlike(36 * width, "An activation goes down, and a gradient comes up.");
}

// Judges a pipeline of sharded stages: numbers of one device, units gathered once a pass, memory, time.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>

#include "grading/formulas/breadth_first.h"
#include "grading/formulas/gathered_units.h"
#include "grading/formulas/pipeline_checks.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/sharding_checks.h"

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

/// What is wrong with the order of the rank's slots, if something is.
std::string order_mistake(const CheckContext& check, int rank) {
  const Pipeline pipeline = pipeline_in(check.kase());
  if (most_in_flight(order_found(check, pipeline, 0)) < pipeline.m * pipeline.v) return "depth_first";
  return depth_first_in_forward(check, rank) ? "depth_first_in_forward" : "";
}

void diagnose_bytes(CheckContext& check, int rank) {
  const std::string order = order_mistake(check, rank);
  if (!order.empty()) return check.diagnose(order);
  const front::Counters& counters = check.counters(rank);
  const std::int64_t layers = pipeline_in(check.kase()).num_layers_of(stage_of(check.kase(), rank));
  if (counters.calls(Collective::all_gather) > 2 * layers) return check.diagnose("gathered_per_micro_batch");
  if (counters.calls(Collective::reduce_scatter) > layers) return check.diagnose("scattered_per_micro_batch");
  if (counters.calls(Collective::all_reduce) > 0) return check.diagnose("all_reduced");
  if (counters.calls(Collective::all_gather) == 2 * layers) check.diagnose("gathered_again_at_the_turn");
}

/// What is alive after each slot, if the rank's slots are in the order that they should have; else nothing.
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
    if (slot.forward != (event.kind == EventKind::forward) || event.label.micro != slot.micro) return {};
    if (++calls < pipeline.layers_of(stage, slot.chunk).size()) continue;
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

/// At its peak the rank has more gradients than its parts and any two chunks that follow one another.
bool too_many_gradients(const CheckContext& check, int rank) {
  const Case data = data_axis(check.kase());
  const Pipeline pipeline = pipeline_in(check.kase());
  const int stage = stage_of(check.kase(), rank);
  const std::vector<std::int64_t> parts = part_bytes(data, rank % data.ranks);
  std::int64_t own_parts = 0, two_units = 0;
  for (int chunk = 0; chunk < pipeline.v; ++chunk) {
    const Range own = pipeline.layers_of(stage, chunk);
    for (Count l = own.begin; l < own.end; ++l) own_parts += parts[static_cast<std::size_t>(l)];
    two_units = std::max(two_units, weights_of_chunks(pipeline, stage, chunk, std::min(chunk + 2, pipeline.v)));
  }
  const std::int64_t found = check.counters(rank).peak_by_kind[static_cast<std::size_t>(Kind::gradient)].value();
  return found > own_parts + two_units;
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
  const std::int64_t before = weights_of_chunks(pipeline, stage, 0, pipeline.v - 1);
  if (before > 0 && excess(alive.size() / 2 - 1) >= before) return check.diagnose("not_resharded");
  const std::int64_t below = weights_of_chunks(pipeline, stage, 0, pipeline.v - 2);  // than the last and one ahead
  if (below > 0 && excess(alive.size() / 2) >= below) return check.diagnose("gathered_at_once_in_backward");
  const std::int64_t at_end = excess(alive.size() - 1);
  if (at_end >= others && others > 0) {
    return check.diagnose(too_many_gradients(check, rank) ? "gradients_kept" : "not_resharded_in_backward");
  }
  if (at_end > 0) check.diagnose("third_unit");
}

void diagnose_time(CheckContext& check, int rank) {
  const std::string order = order_mistake(check, rank);
  if (!order.empty()) return check.diagnose(order);
  const std::string mistake = unit_time_mistake(check, rank);
  check.diagnose(mistake.empty() ? "started_late" : mistake);
}

/// The peak lies in backward: what a third unit takes in forward does not show there.
bool holds_two_units_in_forward(CheckContext& check, int rank) {
  const std::vector<std::int64_t> alive = alive_after_slots(check, rank);
  const std::vector<std::int64_t> planned = breadth_first_memory(check.kase(), rank).after;
  if (alive.empty()) return true;  // another order, of which this cannot speak
  std::size_t worst = 0;
  for (std::size_t slot = 1; slot < alive.size() / 2; ++slot) {
    if (alive[slot] - planned[slot] > alive[worst] - planned[worst]) worst = slot;
  }
  const Slot slot = breadth_first(pipeline_in(check.kase()))[worst];
  return check.at_most(fmt::format("memory of {} after forward of micro-batch {} through chunk {}", check.name_of(rank),
                                   slot.micro, slot.chunk),
                       Bytes(alive[worst]), breadth_first_memory_after(check.kase(), rank, worst),
                       check.place_of_first(rank, EventKind::forward));
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) return diagnose_gradients(check);
  check.equal("loss by rank", losses_by_rank(check.kase()), expected.loss_tolerance);
}

SHARDLINGS_CHECK(communication) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (check.at_most("sent in collectives by " + check.name_of(rank), sent_by_collectives(check, rank),
                      gathered_bytes(check.kase(), rank), check.place_of_last(rank, EventKind::collective))) {
      continue;
    }
    check.detail(fmt::format("it called all_gather {} times, reduce_scatter {} times, for {} layers",
                             check.counters(rank).calls(Collective::all_gather),
                             check.counters(rank).calls(Collective::reduce_scatter),
                             pipeline_in(check.kase()).num_layers_of(stage_of(check.kase(), rank))));
    return diagnose_bytes(check, rank);
  }
}

SHARDLINGS_CHECK(memory) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!check.peak_at_most(rank, breadth_first_memory(check.kase(), rank).peak) ||
        !holds_two_units_in_forward(check, rank)) {
      return diagnose_memory(check, rank);
    }
  }
}

SHARDLINGS_CHECK(time) {
  if (!finishes_within(check, breadth_first_time(check.kase()))) diagnose_time(check, check.slowest_rank());
}

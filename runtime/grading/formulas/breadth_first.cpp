#include "grading/formulas/breadth_first.h"

#include <fmt/format.h>

#include "grading/formulas/sharding.h"

namespace shardlings::grading::formulas {
namespace {

using judge::Formula;
using judge::named;

/// Of a rank's layers, chunk by chunk: sums over some number of each.
std::vector<std::int64_t> by_chunk(const Pipeline& pipeline, int rank, const std::vector<std::int64_t>& of_layers) {
  std::vector<std::int64_t> sums;
  for (int chunk = 0; chunk < pipeline.v; ++chunk) {
    std::int64_t& sum = sums.emplace_back(0);
    const Range own = pipeline.layers_of(rank, chunk);
    for (Count l = own.begin; l < own.end; ++l) sum += of_layers[static_cast<std::size_t>(l)];
  }
  return sums;
}

std::vector<std::int64_t> whole_weights(const Pipeline& pipeline) {
  std::vector<std::int64_t> bytes;
  for (const LayerBytes& layer : pipeline.layers) bytes.push_back(layer.weights);
  return bytes;
}

/// What a slot finds of weights and gradients. `units` are bytes of whole chunks.
struct Standing {
  std::int64_t parts = 0;
  std::vector<std::int64_t> units;

  std::int64_t unit(int chunk) const {
    return chunk < 0 || chunk >= static_cast<int>(units.size()) ? 0 : units[static_cast<std::size_t>(chunk)];
  }
  std::int64_t weights(const Slot& slot) const {
    const bool turns = slot.chunk + 1 == static_cast<int>(units.size());  // what is needed next is the chunk below
    return unit(slot.chunk) + unit(slot.forward && !turns ? slot.chunk + 1 : slot.chunk - 1);
  }
  std::int64_t gradients(const Slot& slot) const { return slot.forward ? 0 : unit(slot.chunk) + unit(slot.chunk + 1); }
};

/// Weights and gradients that are there in a slot.
Formula<Bytes> states_in(const Standing& standing, const Slot& slot) {
  const Formula<Bytes> weights =
      2 * named("parts", Bytes(standing.parts)) + named("two units of weights", Bytes(standing.weights(slot)));
  return slot.forward ? weights : weights + named("two of gradients", Bytes(standing.gradients(slot)));
}

/// A rank's way through its slots, and what it would hold if its weights and gradients were whole all the time.
struct Walk {
  Standing standing;
  Order order;
  PipelineMemory held_whole;

  std::int64_t whole() const { return 2 * sum_of(standing.units); }
};

Walk walk_of(const cases::Case& kase, int rank) {
  const cases::Case column = pipeline_axis(kase), data = data_axis(kase);
  const Pipeline pipeline = pipeline_of(column);
  const int stage = rank / data.ranks;
  Walk walk;
  walk.standing.units = by_chunk(pipeline, stage, whole_weights(pipeline));
  walk.standing.parts = sum_of(by_chunk(pipeline, stage, part_bytes(data, rank % data.ranks)));
  walk.order = breadth_first(pipeline);
  walk.held_whole = memory_along(column, stage, walk.order, {.rounds_in_flight = true});
  return walk;
}

Formula<Bytes> after_slot(const Walk& walk, std::size_t slot) {
  return states_in(walk.standing, walk.order[slot]) +
         named("batch, loss, activations, messages so far", Bytes(walk.held_whole.after[slot] - walk.whole()));
}

}  // namespace

cases::Case pipeline_axis(const cases::Case& kase) {
  cases::Case axis = kase;
  axis.ranks = static_cast<int>(kase.integer("stages"));
  return axis;
}

cases::Case data_axis(const cases::Case& kase) {
  cases::Case axis = kase;
  axis.ranks = kase.ranks / pipeline_axis(kase).ranks;
  return axis;
}

Order breadth_first(const Pipeline& pipeline) {
  Order order;
  for (int chunk = 0; chunk < pipeline.v; ++chunk) {
    for (int i = 0; i < pipeline.m; ++i) order.push_back({true, i, chunk});
  }
  for (int chunk = pipeline.v - 1; chunk >= 0; --chunk) {
    for (int i = 0; i < pipeline.m; ++i) order.push_back({false, i, chunk});
  }
  return order;
}

Formula<Nanos> breadth_first_time(const cases::Case& kase) {
  const Pipeline pipeline = pipeline_of(pipeline_axis(kase));
  const Count longest = pipeline.longest_stage();
  const Nanos end(by_chunk(pipeline, 0, ring_times(data_axis(kase))).front());
  const Formula<Count> m = named("m", pipeline.m), p = named("p", pipeline.p), v = named("v", pipeline.v);
  const Formula<Nanos> turn =
      named("F", longest * kase.cluster.table.forward) + named("B", longest * kase.cluster.table.backward);
  return named("first gathers", end) + ((v - 1) * max(m, p) + m + p - 1) * turn + named("last scatters", end);
}

Formula<Bytes> gathered_bytes(const cases::Case& kase, int rank) {
  const Pipeline pipeline = pipeline_of(pipeline_axis(kase));
  const cases::Case data = data_axis(kase);
  const int stage = rank / data.ranks, part = rank % data.ranks;
  const std::vector<std::int64_t> gathered = by_chunk(pipeline, stage, all_gather_bytes(data, part)),
                                  scattered = by_chunk(pipeline, stage, reduce_scatter_bytes(data, part)),
                                  whole = by_chunk(pipeline, stage, whole_weights(pipeline));
  const Formula<Bytes> weights = named("weights of its chunks", Bytes(sum_of(whole)));
  return simplest(
      share_of_others(named("D", data.ranks)) * (3 * weights - named("those of the last one", Bytes(whole.back()))),
      2 * named("all-gathers", Bytes(sum_of(gathered))) - named("those of the last chunk", Bytes(gathered.back())) +
          named("reduce-scatters", Bytes(sum_of(scattered))));
}

PipelineMemory breadth_first_memory(const cases::Case& kase, int rank) {
  const Walk walk = walk_of(kase, rank);
  PipelineMemory memory = walk.held_whole;
  memory.peak = Bytes(0);
  for (std::size_t k = 0; k < walk.order.size(); ++k) {
    const Slot& slot = walk.order[k];
    const Formula<Bytes> during =
        states_in(walk.standing, slot) +
        named(fmt::format("batch, loss, activations, messages in {} of micro-batch {} through chunk {}",
                          slot.forward ? "forward" : "backward", slot.micro, slot.chunk),
              Bytes(memory.during[k] - walk.whole()));
    memory.after[k] = after_slot(walk, k).value().value();
    memory.during[k] = during.value().value();
    if (during.value() > memory.peak.value()) memory.peak = during;
  }
  return memory;
}

Formula<Bytes> breadth_first_memory_after(const cases::Case& kase, int rank, std::size_t slot) {
  return after_slot(walk_of(kase, rank), slot);
}

}  // namespace shardlings::grading::formulas

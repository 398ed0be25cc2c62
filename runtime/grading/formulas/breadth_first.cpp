#include "grading/formulas/breadth_first.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "grading/formulas/sharding.h"

namespace shardlings::grading::formulas {
namespace {

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
    return unit(slot.chunk) + unit(slot.forward ? slot.chunk + 1 : slot.chunk - 1);
  }
  std::int64_t gradients(const Slot& slot) const { return slot.forward ? 0 : unit(slot.chunk) + unit(slot.chunk + 1); }
};

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

Budget breadth_first_time(const cases::Case& kase) {
  const Pipeline pipeline = pipeline_of(pipeline_axis(kase));
  const std::int64_t turn = pipeline.longest_stage() * table_time(kase, 1, 1);
  const std::int64_t end = by_chunk(pipeline, 0, ring_times(data_axis(kase))).front();
  const std::int64_t turns = (pipeline.v - 1) * std::max(pipeline.m, pipeline.p) + pipeline.m + pipeline.p - 1;
  return {end + turns * turn + end,
          fmt::format("first gathers + ((v - 1) max(m, p) + m + p - 1)(F + B) + last scatters = {0} + {1} x {2} + {0}",
                      to_text(Nanos(end)), turns, to_text(Nanos(turn)))};
}

Budget gathered_bytes(const cases::Case& kase, int rank) {
  const Pipeline pipeline = pipeline_of(pipeline_axis(kase));
  const cases::Case data = data_axis(kase);
  const int stage = rank / data.ranks, part = rank % data.ranks;
  const std::vector<std::int64_t> gathered = by_chunk(pipeline, stage, all_gather_bytes(data, part)),
                                  scattered = by_chunk(pipeline, stage, reduce_scatter_bytes(data, part)),
                                  whole = by_chunk(pipeline, stage, whole_weights(pipeline));
  return {2 * sum_of(gathered) - gathered.back() + sum_of(scattered),
          fmt::format("(D-1)/D x (3 x weights of its chunks - those of the last one) = {}/{} x (3 x {} - {})",
                      data.ranks - 1, data.ranks, sum_of(whole), whole.back())};
}

PipelineMemory breadth_first_memory(const cases::Case& kase, int rank) {
  const cases::Case column = pipeline_axis(kase), data = data_axis(kase);
  const Pipeline pipeline = pipeline_of(column);
  const int stage = rank / data.ranks;
  Standing standing;
  standing.units = by_chunk(pipeline, stage, whole_weights(pipeline));
  standing.parts = sum_of(by_chunk(pipeline, stage, part_bytes(data, rank % data.ranks)));
  const Order order = breadth_first(pipeline);
  PipelineMemory memory = memory_along(column, stage, order, {.rounds_in_flight = true});
  memory.peak = {};
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::int64_t weights = standing.weights(order[k]), gradients = standing.gradients(order[k]);
    const std::int64_t other = memory.during[k] - 2 * sum_of(standing.units);
    const std::int64_t all = 2 * standing.parts + weights + gradients;
    memory.after[k] += all - 2 * sum_of(standing.units);
    memory.during[k] = all + other;
    if (memory.during[k] <= memory.peak.value) continue;
    memory.peak = {
        memory.during[k],
        fmt::format("parts of weights and gradients + two units of weights + two of gradients + batch, loss, "
                    "activations, messages = 2 x {} + {} + {} + {}, in {} of micro-batch {} through chunk {}",
                    standing.parts, weights, gradients, other, order[k].forward ? "forward" : "backward",
                    order[k].micro, order[k].chunk)};
  }
  return memory;
}

}  // namespace shardlings::grading::formulas

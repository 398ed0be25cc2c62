#include "model/software_stack.h"

namespace shardlings::model {

BlockExtents extents_of(const LayerStructure& block, Count sequence, Count batch, int parts, bool sequence_parallel) {
  BlockExtents of;
  of.rows = sequence * batch;
  of.sequence = sequence;
  const Count whole = of.rows * block.in;
  of.elements = {sequence_parallel ? (whole + parts - 1) / parts : whole,
                 whole,
                 of.rows * block.attended,
                 of.rows * block.wide,
                 of.rows * sequence * block.heads,
                 block.range.size(),
                 of.rows * block.key_values,
                 block.llama ? of.rows * block.wide : 0};
  of.widths = {0,
               block.in,
               block.attended,
               block.attended + 2 * block.key_values,
               block.wide,
               block.llama ? 2 * block.wide : block.wide};
  return of;
}

Elements elements_of(Width side) {
  Elements elements{};
  const auto has = [&](Extent extent, double times) { elements[static_cast<std::size_t>(extent)] += times; };
  if (side == Width::hidden) has(Extent::hidden, 1);
  if (side == Width::attended || side == Width::qkv) has(Extent::attended, 1);
  if (side == Width::qkv) has(Extent::key_values, 2);
  if (side == Width::wide || side == Width::into_middle) has(Extent::wide, 1);
  if (side == Width::into_middle) has(Extent::gate, 1);
  return elements;
}

Bytes bytes_of(const Elements& elements, const Elements& masks, const BlockExtents& extents, Bytes element) {
  double bytes = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto count = static_cast<double>(extents.elements[i]);
    bytes += count * (elements[i] * static_cast<double>(element.value()) + masks[i]);
  }
  return Bytes(static_cast<std::int64_t>(bytes));
}

KernelCost cost_of(const StackRow& row, const BlockExtents& extents, Bytes element, bool causal_flash) {
  const Count in = extents.widths[static_cast<std::size_t>(row.in)];
  const Count out = extents.widths[static_cast<std::size_t>(row.out)];
  const Count attended = extents.elements[static_cast<std::size_t>(Extent::attended)];
  const Count keys = extents.elements[static_cast<std::size_t>(Extent::key_values)];
  const Count scores = extents.elements[static_cast<std::size_t>(Extent::scores)];
  KernelCost cost;
  cost.matrix = in > 0 || row.scores_products > 0 || row.flash_products > 0;
  // A product of attention multiplies each of a position's numbers with those of all positions.
  const double attention = row.scores_products + row.flash_products * (causal_flash ? 0.5 : 1);
  const double each = 2.0 * static_cast<double>(attended) * static_cast<double>(extents.sequence);
  cost.flops = Flops(2 * extents.rows * in * out + static_cast<std::int64_t>(attention * each));
  cost.traffic = bytes_of(row.moves, row.masks, extents, element);
  if (in > 0) cost.traffic += element * (extents.rows * (in + out) + in * out);
  cost.traffic +=
      element * static_cast<std::int64_t>(row.scores_products * static_cast<double>(attended + keys + scores));
  // Queries, keys, values and what comes of them, once.
  if (row.flash_products > 0) cost.traffic += element * (2 * attended + 2 * keys);
  return cost;
}

}  // namespace shardlings::model

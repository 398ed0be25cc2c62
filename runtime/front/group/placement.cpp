#include "front/group/placement.h"

#include <algorithm>
#include <unordered_map>

#include "base/dtype.h"
#include "base/parts.h"

namespace shardlings::front {
namespace {

using back::Collective;
using back::Signature;

/// Bytes of the parts that members of this node have.
Bytes parts_of_node(const Signature& signature, const std::vector<int>& members) {
  Count elements = 0;
  for (const int m : members) elements += part_of(signature.count, signature.members, m).size();
  return bytes_of(elements, signature.dtype);
}

/// The part of `all` that goes over the port of a node's member `number`.
Bytes slice(Bytes all, DType dtype, int rails, int number) {
  if (number >= rails) return Bytes(0);
  const Bytes one = bytes_of(1, dtype);
  return part_of(all.value() / one.value(), rails, number).size() * one;
}

/// What members of gather and scatter that are not the root exchange with it.
RingTraffic with_root(const Signature& signature, int member, const Placement& placement) {
  const auto node = [&](int m) { return placement.places[static_cast<std::size_t>(m)].node; };
  return node(member) == node(signature.root) ? RingTraffic{} : ring_traffic_of(signature, member);
}

}  // namespace

Placement placement_of(const std::vector<int>& world_ranks, const CostModel& costs) {
  Placement placement;
  std::unordered_map<int, std::int32_t> index;  // of a node of the cluster
  for (std::size_t m = 0; m < world_ranks.size(); ++m) {
    const auto next = static_cast<std::int32_t>(placement.nodes.size());
    const std::int32_t node = index.try_emplace(costs.node_of(world_ranks[m]), next).first->second;
    if (node == next) placement.nodes.emplace_back();
    std::vector<int>& members = placement.nodes[static_cast<std::size_t>(node)];
    placement.places.push_back({node, static_cast<std::int32_t>(members.size())});
    members.push_back(static_cast<int>(m));
  }
  const auto by_size = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  const auto [fewest, most] = std::minmax_element(placement.nodes.begin(), placement.nodes.end(), by_size);
  placement.spread.nodes = static_cast<int>(placement.nodes.size());
  placement.spread.rails = static_cast<int>(fewest->size());
  placement.spread.inside = most->size() > 1;
  if (placement.spread.nodes > 1) return placement;
  return {placement.spread, {}, {}};
}

RingTraffic traffic_between_nodes(const Signature& signature, int member, const Placement& placement) {
  if (placement.spread.nodes == 1) return {};
  const Placement::Place place = placement.places[static_cast<std::size_t>(member)];
  const std::vector<int>& own = placement.nodes[static_cast<std::size_t>(place.node)];
  const Bytes whole = bytes_of(std::max(signature.count, Count{0}), signature.dtype);
  switch (signature.kind) {
    case Collective::gather:
      if (member == signature.root) return {Bytes(0), whole - parts_of_node(signature, own)};
      return with_root(signature, member, placement);
    case Collective::scatter:
      if (member == signature.root) return {whole - parts_of_node(signature, own), Bytes(0)};
      return with_root(signature, member, placement);
    case Collective::all_to_all: {
      const Count others = signature.members - static_cast<Count>(own.size());
      const Count part = part_of(signature.count, signature.members, member).size();
      return {whole - parts_of_node(signature, own), bytes_of(others * part, signature.dtype)};
    }
    default: break;
  }
  const RingTraffic all = ring_traffic_of(signature, member);
  return {slice(all.sent, signature.dtype, placement.spread.rails, place.number),
          slice(all.received, signature.dtype, placement.spread.rails, place.number)};
}

}  // namespace shardlings::front

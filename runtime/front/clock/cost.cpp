#include "front/clock/cost.h"

#include <algorithm>
#include <cmath>

#include "base/dtype.h"
namespace shardlings::front {
namespace {

// The one place where seconds become integer nanoseconds: half a nanosecond rounds up.
Nanos rounded(double seconds) {
  return Nanos(static_cast<std::int64_t>(std::floor(seconds * 1e9 + 0.5)));
}

Nanos transfer(Bytes size, double bytes_per_second) {
  return rounded(static_cast<double>(size.value()) / bytes_per_second);
}

// Parts go straight to their places, each over its sender's own port, or into that of its receiver.
bool is_direct(back::Collective kind) {
  return kind == back::Collective::gather || kind == back::Collective::scatter || kind == back::Collective::all_to_all;
}

// Elements of the longest of n parts; the ring waits for it in every step.
Count longest_part(Count count, int members) {
  return (count + members - 1) / members;
}

// Steps of a ring algorithm, each passing one part on.
int ring_steps(back::Collective kind, int members) {
  switch (kind) {
    case back::Collective::all_reduce: return 2 * (members - 1);
    case back::Collective::barrier:
    case back::Collective::split: return 0;
    default: return members - 1;
  }
}

}  // namespace

Nanos CostModel::operation(const Cost& cost) const {
  if (cluster_.uses_table) return Nanos(0);
  const Roofline& roof = cluster_.roofline;
  const double peak = cost.dtype == DType::bf16 && cost.matrix ? roof.flops_per_second_bf16 : roof.flops_per_second;
  const double compute = static_cast<double>(cost.flops.value()) / peak;
  const double memory = static_cast<double>(cost.traffic.value()) / roof.memory_bytes_per_second;
  return roof.launch + rounded(std::max(compute, memory));
}

double CostModel::ring_bandwidth(const Spread& spread) const {
  const double inside = cluster_.links[static_cast<std::size_t>(Link::intra_node)].bytes_per_second;
  if (spread.nodes == 1) return inside;
  const double ports = spread.rails * cluster_.links[static_cast<std::size_t>(Link::inter_node)].bytes_per_second;
  return spread.inside ? std::min(inside, ports) : ports;
}

Nanos CostModel::collective(const back::Signature& signature, const Spread& spread) const {
  const int steps = ring_steps(signature.kind, signature.members);
  if (steps == 0) return Nanos(0);
  if (cluster_.collective) return *cluster_.collective;
  const Nanos hop = latency(spread.link());
  const Bytes part = bytes_of(longest_part(signature.count, signature.members), signature.dtype);
  if (is_direct(signature.kind)) return steps * (hop + occupancy(part, spread.link()));
  const double bandwidth = ring_bandwidth(spread);
  const bool whole = signature.kind == back::Collective::broadcast || signature.kind == back::Collective::reduce;
  // A pipelined broadcast or reduction streams the whole through the chain: its length is paid once, the latency N-1
  // times. The others pass one part in every step.
  if (whole) return steps * hop + transfer(bytes_of(signature.count, signature.dtype), bandwidth);
  return steps * (hop + transfer(part, bandwidth));
}

Nanos CostModel::occupancy(Bytes size, Link link) const {
  return transfer(size, cluster_.links[static_cast<std::size_t>(link)].bytes_per_second);
}

Nanos CostModel::host_copy(Bytes size, HostLink link) const {
  const LinkSpeed& speed = cluster_.host_links[static_cast<std::size_t>(link)];
  return speed.latency + rounded(static_cast<double>(size.value()) / speed.bytes_per_second);
}

Nanos CostModel::host_work(Bytes traffic) const {
  return rounded(static_cast<double>(traffic.value()) / cluster_.host.bytes_per_second);
}

}  // namespace shardlings::front

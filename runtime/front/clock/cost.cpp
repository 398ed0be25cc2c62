#include "front/clock/cost.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/dtype.h"
namespace shardlings::front {
namespace {

// StoreSpeed says why.
constexpr Nanos kStoreLatency(1'000'000);
constexpr double kStoreBandwidth = 0.122e9;

// The one place where seconds become integer nanoseconds: half a nanosecond rounds up.
Nanos rounded(double seconds) {
  return Nanos(static_cast<std::int64_t>(std::floor(seconds * 1e9 + 0.5)));
}

Nanos transfer(Bytes size, double bytes_per_second) {
  return rounded(static_cast<double>(size.value()) / bytes_per_second);
}

Bytes share_of(Bytes whole, const std::optional<double>& share) {
  if (!share) return whole;
  return Bytes(static_cast<std::int64_t>(std::ceil(static_cast<double>(whole.value()) * *share)));
}

// Parts go straight to their places, each over its sender's own port, or into that of its receiver.
bool is_direct(back::Collective kind) {
  return kind == back::Collective::gather || kind == back::Collective::scatter || kind == back::Collective::all_to_all;
}

int ceil_log2(int n) {
  return std::bit_width(static_cast<unsigned>(n - 1));
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

CostModel::CostModel(Cluster cluster)
    : cluster_(std::move(cluster)), is_plain_(!cluster_.mixed && !cluster_.activation_share) {
  const Efficiency& reached = cluster_.efficiency;
  Roofline& roof = cluster_.roofline;
  roof.flops_per_second *= reached.matmul.value_or(1);
  roof.flops_per_second_bf16 *= reached.matmul.value_or(1);
  roof.memory_bytes_per_second *= reached.memory.value_or(1);
  cluster_.links[static_cast<std::size_t>(Link::intra_node)].bytes_per_second *= reached.intra_node.value_or(1);
  cluster_.links[static_cast<std::size_t>(Link::inter_node)].bytes_per_second *= reached.inter_node.value_or(1);
  cluster_.efficiency = {};
}

Bytes CostModel::weighed(Count n, DType dtype, Kind kind) const {
  const Bytes whole = front::weight(n, dtype, kind, cluster_.mixed, cluster_.f32_gradients);
  return kind == Kind::activation ? share_of(whole, cluster_.activation_share) : whole;
}

Bytes CostModel::of_message(Bytes seen, DType dtype) const {
  return share_of(on_wire(seen, dtype), cluster_.message_share);
}

Bytes CostModel::whole_of(const back::Signature& signature) const {
  return weight(signature.count, signature.dtype, Kind::buffer);
}

Bytes CostModel::longest_part(const back::Signature& signature) const {
  return weight((signature.count + signature.members - 1) / signature.members, signature.dtype, Kind::buffer);
}

Nanos CostModel::operation(const Cost& cost) const {
  if (cluster_.uses_table) return Nanos(0);
  const Roofline& roof = cluster_.roofline;
  const bool is_bf16 = cost.dtype == DType::bf16 || (cluster_.mixed && cost.dtype == DType::f32);
  const double peak = is_bf16 && cost.matrix ? roof.flops_per_second_bf16 : roof.flops_per_second;
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

Nanos CostModel::ring_latency(int steps, const back::Signature& signature, const Spread& spread) const {
  if (spread.nodes == 1 || !cluster_.trees.known()) return steps * latency(spread.link());
  const int rounds = steps / (signature.members - 1);
  const int crossing = rounds * (spread.nodes - 1);
  return crossing * latency(Link::inter_node) + (steps - crossing) * latency(Link::intra_node);
}

Nanos CostModel::ring(const back::Signature& signature, const Spread& spread) const {
  const int steps = ring_steps(signature.kind, signature.members);
  const Nanos hops = ring_latency(steps, signature, spread);
  const double bandwidth = ring_bandwidth(spread);
  const bool whole = signature.kind == back::Collective::broadcast || signature.kind == back::Collective::reduce;
  // A pipelined broadcast or reduction streams the whole through the chain: its length is paid once, the latency N-1
  // times. The others pass one part in every step.
  if (whole) return hops + transfer(whole_of(signature), bandwidth);
  return hops + steps * transfer(longest_part(signature), bandwidth);
}

Nanos CostModel::double_tree(const back::Signature& signature, const Spread& spread) const {
  const Trees& trees = cluster_.trees;
  const int chain = signature.members / spread.nodes - 1;
  const Nanos hops = 2 * (chain * *trees.hop_inside + ceil_log2(spread.nodes) * *trees.hop_between);
  return hops + transfer(2 * whole_of(signature), *trees.bandwidth * ring_bandwidth(spread));
}

Nanos CostModel::in_switch(const back::Signature& signature) const {
  return 2 * latency(Link::intra_node) + occupancy(whole_of(signature), Link::intra_node);
}

Nanos CostModel::doubling(const back::Signature& signature, const Spread& spread) const {
  const int steps = signature.members - 1;
  return ceil_log2(signature.members) * latency(spread.link()) +
         steps * transfer(longest_part(signature), ring_bandwidth(spread));
}

Nanos CostModel::collective(const back::Signature& signature, const Spread& spread) const {
  using back::Collective;
  const int steps = ring_steps(signature.kind, signature.members);
  if (steps == 0) return Nanos(0);
  if (cluster_.collective) return *cluster_.collective;
  const Link link = spread.link();
  if (is_direct(signature.kind)) return steps * (latency(link) + occupancy(longest_part(signature), link));
  const Nanos around = ring(signature, spread);
  const bool reduces = signature.kind == Collective::all_reduce;
  if (reduces && link == Link::intra_node && cluster_.links[0].reduces) return std::min(around, in_switch(signature));
  if (!cluster_.trees.known() || link == Link::intra_node) return around;
  if (reduces) return std::min(around, double_tree(signature, spread));
  const bool gathers = signature.kind == Collective::all_gather || signature.kind == Collective::reduce_scatter;
  return gathers && !spread.inside ? std::min(around, doubling(signature, spread)) : around;
}

Nanos CostModel::occupancy(Bytes size, Link link) const {
  return transfer(size, cluster_.links[static_cast<std::size_t>(link)].bytes_per_second);
}

Nanos CostModel::host_copy(Bytes size, HostLink link) const {
  const LinkSpeed& speed = cluster_.host_links[static_cast<std::size_t>(link)];
  return speed.latency + rounded(static_cast<double>(size.value()) / speed.bytes_per_second);
}

Nanos CostModel::store(Bytes size) const {
  const double speed = cluster_.store.bytes_per_second.value_or(kStoreBandwidth);
  return store_latency() + rounded(static_cast<double>(size.value()) / speed);
}

Nanos CostModel::store_latency() const {
  return std::max(Nanos(1), cluster_.store.latency.value_or(kStoreLatency));
}

Nanos CostModel::host_work(Bytes traffic) const {
  return rounded(static_cast<double>(traffic.value()) / cluster_.host.bytes_per_second);
}

}  // namespace shardlings::front

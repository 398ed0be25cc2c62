/// \file
/// How long operations take in virtual time. Pure functions of a cluster; every rounding is here.
#pragma once

#include <utility>

#include "back/fabric/fabric.h"
#include "front/clock/cluster.h"
#include "front/clock/precision.h"
#include "front/clock/spread.h"

namespace shardlings::front {

/// What an operation does to a device.
struct Cost {
  Flops flops;
  Bytes traffic;        ///< device memory read and written
  bool matrix = false;  ///< runs on the matrix units
  DType dtype = DType::f32;
};

class CostModel {
 public:
  explicit CostModel(Cluster cluster);
  /// With the speeds that programs reach: peak times efficiency.
  const Cluster& cluster() const { return cluster_; }

  /// What a tensor of that kind weighs in the cluster's precision; of activations a rank may have a part.
  Bytes weight(Count n, DType dtype, Kind kind) const {
    return is_plain_ ? bytes_of(n, dtype) : weighed(n, dtype, kind);
  }
  /// The same of data on a link, whatever they are for: so many bytes as the program sees them.
  Bytes on_wire(Bytes seen, DType dtype) const {
    return cluster_.mixed ? weight(seen.value() / size_of(dtype), dtype, Kind::buffer) : seen;
  }

  /// Of a message between two ranks what crosses the link: each rank of a tensor-parallel group may send a part.
  Bytes of_message(Bytes seen, DType dtype) const;

  /// A single operation; zero on a cluster with a table of calls.
  Nanos operation(const Cost& cost) const;
  /// A collective's time (alpha-beta model; Thakur et al. 2005): the ring's, where each step has the latency of the
  /// slowest class of links, and rings over several network ports at once share the bytes; on a cluster with trees that
  /// of the fastest algorithm.
  Nanos collective(const back::Signature& signature, const Spread& spread) const;
  /// How long a message occupies a link; the latency is apart.
  Nanos occupancy(Bytes size, Link link) const;
  Nanos latency(Link link) const { return cluster_.links[static_cast<std::size_t>(link)].latency; }
  /// A copy between the device's memory and the host's.
  Nanos host_copy(Bytes size, HostLink link) const;
  /// A write to the store, or a read; not less than a nanosecond, so that what has been found there holds for a
  /// moment.
  Nanos store(Bytes size) const;
  /// A question about what is there, or a folder's new name.
  Nanos store_latency() const;
  /// Work of the host's processor that reads and writes so many bytes.
  Nanos host_work(Bytes traffic) const;
  /// The class of link between two ranks of the world.
  Link link_between(int a, int b) const { return node_of(a) == node_of(b) ? Link::intra_node : Link::inter_node; }
  int node_of(int world_rank) const { return world_rank / cluster_.ranks_per_node; }

 private:
  Bytes weighed(Count n, DType dtype, Kind kind) const;
  /// What one member passes on in a second, in a ring over all of the group's ports: min(W inside, rails W between).
  double ring_bandwidth(const Spread& spread) const;
  Bytes whole_of(const back::Signature& signature) const;
  /// Of the longest of the members' parts; the ring waits for it in every step.
  Bytes longest_part(const back::Signature& signature) const;
  /// Of so many steps. With trees, that is, as NCCL counts: a ring crosses once for each node, its other hops are
  /// inside.
  Nanos ring_latency(int steps, const back::Signature& signature, const Spread& spread) const;
  Nanos ring(const back::Signature& signature, const Spread& spread) const;
  /// All-reduce over two binary trees, each with half of the data (Sanders, Speck, Traff 2009), and chains inside
  /// nodes: 2 ((k-1) inside + log2(nodes) between) + 2 S / W, as NCCL's src/graph/tuning.cc has it.
  Nanos double_tree(const back::Signature& signature, const Spread& spread) const;
  /// The sum made in the switch: everything goes there once and comes back once.
  Nanos in_switch(const back::Signature& signature) const;
  /// All-gather or reduce-scatter of ranks on as many nodes, in log2(N) hops: recursive doubling and halving (Thakur et
  /// al. 2005), or NCCL's parallel aggregated trees (Jeaugey 2025, arXiv 2506.20252).
  Nanos doubling(const back::Signature& signature, const Spread& spread) const;

  Cluster cluster_;
  bool is_plain_;  ///< everything weighs what a program sees of it: asked for with each argument of each operation
};

}  // namespace shardlings::front

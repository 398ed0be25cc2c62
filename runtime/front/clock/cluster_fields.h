/// \file
/// The numbers of a cluster, each with its name: files, cases and results have them under these.
#pragma once

#include "front/clock/cluster.h"

namespace shardlings::front {

/// Calls visit(name, number) for each number of a section. Times say their unit, bytes are named without one.
void each_field(LinkSpeed& link, auto visit) {
  visit("latency_ns", link.latency);
  visit("bytes_per_second", link.bytes_per_second);
  visit("reduces", link.reduces);
}

void each_field(Trees& trees, auto visit) {
  visit("hop_inside_ns", trees.hop_inside);
  visit("hop_between_ns", trees.hop_between);
  visit("bandwidth", trees.bandwidth);
}

void each_field(CallTable& table, auto visit) {
  visit("forward_ns", table.forward);
  visit("backward_ns", table.backward);
  visit("backward_weights_ns", table.backward_weights);
  visit("loss_ns", table.loss);
  visit("update_ns", table.update);
  visit("per_sequence", table.per_sequence);
}

void each_field(Roofline& roofline, auto visit) {
  visit("flops_per_second", roofline.flops_per_second);
  visit("flops_per_second_bf16", roofline.flops_per_second_bf16);
  visit("memory_bytes_per_second", roofline.memory_bytes_per_second);
  visit("launch_ns", roofline.launch);
}

void each_field(Efficiency& efficiency, auto visit) {
  visit("matmul", efficiency.matmul);
  visit("memory", efficiency.memory);
  visit("intra_node", efficiency.intra_node);
  visit("inter_node", efficiency.inter_node);
}

void each_field(Host& host, auto visit) {
  visit("memory", host.memory);
  visit("bytes_per_second", host.bytes_per_second);
}

void each_field(StoreSpeed& store, auto visit) {
  visit("latency_ns", store.latency);
  visit("bytes_per_second", store.bytes_per_second);
}

/// Those that are in no section.
void each_field(Cluster& cluster, auto visit) {
  visit("ranks_per_node", cluster.ranks_per_node);
  visit("device_memory", cluster.device_memory);
  visit("collective_ns", cluster.collective);
  visit("activation_share", cluster.activation_share);
  visit("message_share", cluster.message_share);
  visit("mixed", cluster.mixed);
  visit("f32_gradients", cluster.f32_gradients);
}

/// Calls visit(name, section) for each section.
void each_section(Cluster& cluster, auto visit) {
  visit("table", cluster.table);
  visit("roofline", cluster.roofline);
  visit("intra_node", cluster.links[static_cast<std::size_t>(Link::intra_node)]);
  visit("inter_node", cluster.links[static_cast<std::size_t>(Link::inter_node)]);
  visit("to_host", cluster.host_links[static_cast<std::size_t>(HostLink::to_host)]);
  visit("to_device", cluster.host_links[static_cast<std::size_t>(HostLink::to_device)]);
  visit("host", cluster.host);
  visit("store", cluster.store);
  visit("trees", cluster.trees);
  visit("efficiency", cluster.efficiency);
}

}  // namespace shardlings::front

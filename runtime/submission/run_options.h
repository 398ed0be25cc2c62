/// \file
/// What a case says of the world in which it runs.
#pragma once

#include "case/case.h"
#include "world/world.h"

namespace shardlings::submission {

/// Ranks, cluster and both capacities as the case has them; what else a run needs is its caller's affair.
inline world::Options options_of(const cases::Case& kase) {
  world::Options options;
  options.ranks = kase.ranks;
  options.cluster = kase.cluster;
  options.capacity = kase.capacity;
  options.host_capacity = kase.cluster.host.memory;
  options.traced = kase.traced;
  options.recipes = kase.recipes;
  if (kase.folded) options.folded_replicas = kase.num_batches();
  options.execution = kase.execution;
  options.deaths = kase.deaths;
  options.detection = kase.detection;
  return options;
}

}  // namespace shardlings::submission

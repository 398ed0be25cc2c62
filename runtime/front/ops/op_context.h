/// \file
/// What operations need of their rank.
#pragma once

#include "front/host/host_lanes.h"
#include "front/memory/rank_memory.h"
#include "front/pending/pending_table.h"
#include "front/rank/meter.h"

namespace shardlings::front {

struct OpContext {
  RankContext& rank;
  Meter& meter;
  RankMemory& memory;
  PendingTable& pending;
  HostLanes& host;
};

}  // namespace shardlings::front

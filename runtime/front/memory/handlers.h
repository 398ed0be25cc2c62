/// \file
/// What a rank's memory does for the verbs of the same names.
#pragma once

#include "api/call.h"
#include "front/memory/rank_memory.h"

namespace shardlings::front::handle {

detail::Reply allocate(RankMemory& memory, const detail::Call& call);
detail::Reply mark_layer(RankMemory& memory, const detail::Call& call);
detail::Reply drop(RankMemory& memory, const detail::Call& call);

}  // namespace shardlings::front::handle

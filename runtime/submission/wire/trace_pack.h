/// \file
/// Traces as packed bytes: for the submission's result and for the file that reports read.
#pragma once

#include "base/pack.h"
#include "front/trace/event.h"

namespace shardlings::wire {

void pack_trace(const front::RankTrace& trace, Packer& out);
/// Throws BadPack; what it returns is consistent (every index inside its table), whatever the bytes were.
front::RankTrace unpack_trace(Unpacker& in);

}  // namespace shardlings::wire

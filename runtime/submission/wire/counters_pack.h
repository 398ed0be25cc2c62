/// \file
/// Counters as bytes, for the result of a submission. As JSON, those of a simulation of some thousand ranks took longer
/// than all else that is left behind.
#pragma once

#include "base/pack.h"
#include "front/trace/counters.h"

namespace shardlings::wire {

void pack_counters(const front::Counters& counters, Packer& out);
/// Throws BadPack.
front::Counters unpack_counters(Unpacker& in);

}  // namespace shardlings::wire

/// \file
/// What was shown, as packed bytes.
#pragma once

#include "base/pack.h"
#include "front/trace/shown.h"

namespace shardlings::wire {

void pack_shows(const front::Shows& shows, Packer& out);
/// Throws BadPack for more, or for longer ones, than a rank can leave.
front::Shows unpack_shows(Unpacker& in);

}  // namespace shardlings::wire

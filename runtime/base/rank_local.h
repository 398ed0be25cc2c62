/// \file
/// One address that belongs to the rank whose code this thread is running. With a thread for each rank it is the
/// thread's; fibers of one thread take it along when one gives way to another.
#pragma once

namespace shardlings {

void*& rank_local();

}  // namespace shardlings

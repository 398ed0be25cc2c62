/// \file
/// The fabric of ranks in several processes, over any transport between them.
#pragma once

#include <memory>

#include "back/fabric/fabric.h"
#include "back/transport/progress.h"

namespace shardlings::back {

/// Each member has an exchange of its own, on a device whose memory is the host's. A handle says in which process a
/// member is, and the number of its exchange there. What has been launched comes to its end as long as all processes
/// poll, whether its members wait for it or not. launch() is for who holds the lock of `progress`.
///
/// A reduction goes in two phases: each member sends part j of its input to member j, which combines them in rank
/// order, and then passes the result on to who gets it. So of N members each sends and receives (N-1)/N of the data in
/// each phase, as on a ring.
std::unique_ptr<Fabric> make_process_fabric(Progress& progress);

}  // namespace shardlings::back

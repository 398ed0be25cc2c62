/// \file
/// A transport over sockets between forked processes: what MPI does, without MPI.
#pragma once

#include <memory>
#include <vector>

#include "back/transport/transport.h"

namespace shardlings::support {

/// A socket from each process to each other, made before they are forked; -1 for itself.
using Sockets = std::vector<std::vector<int>>;
Sockets make_sockets(int processes);
void close_all(const Sockets& sockets);

/// The ends of process `process`; closes those of the others.
std::unique_ptr<back::Transport> make_socket_transport(const Sockets& sockets, int process);

}  // namespace shardlings::support

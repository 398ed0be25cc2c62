/// \file
/// A run whose ranks are spread over several processes.
#pragma once

#include <functional>
#include <string>

#include "back/transport/progress.h"
#include "front/trace/run_report.h"
#include "world/world.h"

namespace shardlings::world {

/// The ranks of one process of so many: consecutive ones, as part_of() deals them.
Range ranks_of_process(int ranks, int processes, int process);
/// The process that a rank is in.
int process_of_rank(int ranks, int processes, int rank);

/// As run(), for all processes of options.progress together, each of which calls it with the same options. Process 0
/// returns the report of all ranks; the others that of their own, without the failure. A machine fault that any of them
/// has had counts as one of process 0 then. Not for folded runs.
front::RunReport run_in_processes(const Options& options, const std::function<void(Rank&)>& body);

/// A message of Channel::gone: a process will say nothing any more, and why: "ended in the middle of the run". For
/// transports that see that, such as the sockets of tests; MPI does not, and says nothing here. It is the failure of
/// its ranks, and the others stop; if it is process 0, this one ends.
std::string gone_message(int process, const std::string& why);

/// Gives all processes the text that process 0 has. All of them call it, between runs.
std::string from_first(back::Progress& progress, const std::string& text);

}  // namespace shardlings::world

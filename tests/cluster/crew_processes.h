/// \file
/// The processes that a run over MPI has started, as the system shows them.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace shardlings::cluster {

struct CrewProcess {
  pid_t pid = 0;
  int number = 0;  ///< in its run, from 0
};

/// Those in whose environment `mark` ("NAME=value") stands; of several runs the ones of that run.
std::vector<CrewProcess> crew_processes(const std::string& mark);
/// All processes with the mark: launchers and their helpers, too.
std::vector<pid_t> processes_with(const std::string& mark);
/// Of these, the ones that run this program.
std::vector<pid_t> processes_of(const std::string& program, const std::string& mark);
/// What a process has in its environment under a name; empty: nothing.
std::string variable_of(pid_t pid, const std::string& name);

}  // namespace shardlings::cluster

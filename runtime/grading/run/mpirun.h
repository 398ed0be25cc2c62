/// \file
/// How the processes of a run are started by MPI's own programs: Open MPI's mpirun, MPICH's mpiexec.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grading/run/mpi_hosts.h"
#include "grading/run/process.h"

namespace shardlings::grading::run {

enum class MpiKind : std::uint8_t { open_mpi, mpich };

/// The program that starts processes.
struct MpiLauncher {
  MpiKind kind = MpiKind::open_mpi;
  int version = 0;      ///< the first number of it
  std::string program;  ///< path
};

/// The launcher of the MPI that is called `mpi` ("Open MPI 4.1.4"): SHARDLINGS_MPIRUN, or what is found on the PATH.
/// The other MPI's launcher would start processes that know nothing of one another, so each is asked whose it is.
/// Throws std::runtime_error that says what is missing and what to do.
MpiLauncher find_launcher(const std::string& mpi);

/// Whose launcher it is that says this of its version, and which; nothing if it is neither's.
bool is_launcher_of(MpiKind kind, const std::string& said);

/// How a run is divided over processes, and where they are. The command decides it, and a grader starts them.
struct MpiStart {
  MpiLauncher launcher;
  int processes = 1;
  std::vector<MpiHost> hosts;  ///< none: this one, or those of the batch system's job
};

/// In one line, for another process of this machine. start_from() throws std::runtime_error for anything else.
std::string to_text(const MpiStart& start);
MpiStart start_from(const std::string& text);

struct MpiLaunch : MpiStart {
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> variables;  ///< "NAME=value", in the environment of the processes on every host
};

/// What the launcher is told. Without hosts there may be more processes than cores; with them a host's slots count.
std::vector<std::string> launcher_arguments(const MpiLaunch& launch, bool as_root);
/// What it finds in its environment: the caller's, without what an mpirun around the caller has left there.
std::vector<std::string> launcher_environment(const char* const* callers);

/// Ready to run.
ProcessOptions mpirun_process(const MpiLaunch& launch);

}  // namespace shardlings::grading::run

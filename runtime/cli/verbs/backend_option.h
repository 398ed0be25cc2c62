/// \file
/// The options --backend, -n, --ranks-per-process and --hostfile of the verbs that run cases.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/context.h"
#include "grading/run/backend_choice.h"

namespace shardlings::cli::verbs {

struct BackendOptions {
  std::string backend;        ///< cpu, cuda, nccl, mpi or auto; empty: the variable SHARDLINGS_BACKEND, or else cpu
  grading::run::MpiWish mpi;  ///< how many processes, and where
};

/// Whether a verb has options for the processes of the backend mpi.
enum class MpiOptions : bool { none, all };
/// Adds --backend, and those.
void add_backend_options(VerbOptions& verb, BackendOptions& options, MpiOptions mpi = MpiOptions::all);

/// What the options come to on this machine for these cases. A choice is explained on the error stream. Throws
/// std::runtime_error, which ends the command with kWrongUse, for a backend that there is not; and AnotherDoesIt in all
/// but the first of several processes that mpirun has started for the backend mpi.
grading::run::BackendChoice chosen_backend(const Context& context, const BackendOptions& options,
                                           const std::vector<cases::Case>& cases);

}  // namespace shardlings::cli::verbs

/// \file
/// The option --backend of the verbs that run cases.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "grading/run/backend_choice.h"

namespace shardlings::cli::system {

/// What `wish` (cpu, cuda, nccl, auto) or, if that is empty, the variable SHARDLINGS_BACKEND, or else cpu comes to on
/// this machine for these cases. A choice is explained on the error stream. Throws std::runtime_error, which ends the
/// command with kWrongUse, for a backend that there is not.
grading::run::Backend chosen_backend(const Context& context, const std::string& wish,
                                     const std::vector<cases::Case>& cases);

}  // namespace shardlings::cli::system

/// \file
/// The fabric of ranks that have a GPU each: NVIDIA's NCCL. It lies in a library of its own, which is loaded when it is
/// asked for, so that neither building nor starting needs it.
#pragma once

#include <memory>
#include <string>

#include "back/fabric/fabric.h"

namespace shardlings::back {

/// "2.28.9"; empty if NCCL cannot be used, and then `problem` says why and what to do.
std::string nccl_version(std::string& problem);

/// For ranks 0 … ranks-1 with devices on GPUs 0 … ranks-1. Sums are not made in rank order. An operation that does not
/// come to its end within SHARDLINGS_NCCL_TIMEOUT seconds (60 by default) is reported and ends the run.
/// Throws std::runtime_error with the problem.
std::unique_ptr<Fabric> make_nccl_fabric(int ranks);

}  // namespace shardlings::back

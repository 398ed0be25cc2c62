/// \file
/// Software stacks as files, and what is known of how well they predict.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "front/clock/cluster.h"
#include "model/software_stack.h"

namespace shardlings::simulation {

/// What a stack's file says of one cluster.
struct OnCluster {
  front::Efficiency efficiency;
  int rows = 0;           ///< published steps that the times were compared with
  double mean_error = 0;  ///< of them, as a part: with these efficiencies,
  double worst_error = 0;
  double left_out_error = 0;  ///< and the mean where each is predicted by efficiencies fitted to the others
};

struct StackFile {
  std::shared_ptr<const model::SoftwareStack> stack;
  bool knows_llama = false;        ///< its rows are those of Llama's blocks, too
  bool scatters_messages = false;  ///< each rank of a tensor-parallel group sends a part of an activation
  std::map<std::string, OnCluster> on;

  const OnCluster* on_cluster(const std::string& name) const;
};

/// The name of the layers that programs are made of without a stack.
inline constexpr const char* kOwnStack = "ours";

/// The stack of that name in the folder, or in a file of its own if the name ends in ".toml". Throws
/// std::runtime_error that names the key at fault, or the stacks that there are.
StackFile load_stack(const std::string& folder, const std::string& name);

}  // namespace shardlings::simulation

/// \file
/// What a public Model stands for on one rank.
#pragma once

#include <cstdint>
#include <memory>

#include "model/structure.h"
#include "shardlings/group.h"

namespace shardlings::detail {

/// Layers as data, and the group in which the terms of divided ones are added up.
struct RankModel {
  /// Of the whole layers, or of this rank's part of each. Shared with other ranks; never null.
  std::shared_ptr<const model::ModelStructure> structure;
  Group tp;              ///< over which the layers are divided; empty: they are not
  std::uint32_t id = 0;  ///< by which calls name it; 0: the rank's front does not know it
};

}  // namespace shardlings::detail

/// \file
/// Where the part of a layer that a rank of a tensor-parallel group has lies in the whole layer.
#pragma once

#include <vector>

#include "model/structure.h"

namespace shardlings::model {

/// Elements that lie one behind the other both in a rank's part of a layer and in the whole layer.
struct Stretch {
  Range part;
  Count whole = 0;  ///< where the first of them is
};

/// All of a rank's part (see make_part), in order. Of a layer that is not divided it is a single one.
std::vector<Stretch> stretches(const LayerStructure& whole, const LayerStructure& part);
/// Of them, what lies in `range` of the rank's part.
std::vector<Stretch> clipped(const std::vector<Stretch>& stretches, Range range);

/// Elements `range` of the rank's part, out of the whole layer.
std::vector<float> taken(const std::vector<float>& whole, const std::vector<Stretch>& stretches, Range range);
/// The same the other way round: `values` are elements `range` of the rank's part, and go where they belong.
void put(std::vector<float>& whole, const std::vector<Stretch>& stretches, Range range,
         const std::vector<float>& values);

}  // namespace shardlings::model

/// \file
/// The recipe of a block's call as a software stack makes it, in place of one that was recorded from our operations.
#pragma once

#include "front/clock/cost.h"
#include "front/model/recipe.h"
#include "model/execution.h"
#include "model/software_stack.h"

namespace shardlings::front {

/// A block's call, as far as its costs depend on it.
struct StackCall {
  const model::SoftwareStack& stack;
  model::Recompute recompute;
  const CostModel& costs;
  const model::LayerStructure& block;
  Shape x;        ///< (s, b, h)
  int parts = 1;  ///< ranks that the block is divided over
};

/// `saves`: a backward will come.
Recipe stack_forward(const StackCall& call, bool saves);
/// `saved` is the recipe of the forward before it, whose bytes go.
Recipe stack_backward(const StackCall& call, const Recipe& saved);

}  // namespace shardlings::front

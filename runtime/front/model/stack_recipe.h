/// \file
/// The recipe of a block's call as a software stack makes it, in place of one that was recorded from our operations. Of
/// Llama's layers embedding and head have recipes of this kind, too, since there are no operations for them.
#pragma once

#include "front/clock/cost.h"
#include "front/model/recipe.h"
#include "model/execution.h"
#include "model/software_stack.h"

namespace shardlings::front {

/// A layer's call, as far as its costs depend on it.
struct StackCall {
  const model::SoftwareStack& stack;
  model::Recompute recompute;
  const CostModel& costs;
  const model::LayerStructure& layer;
  Shape x;        ///< (s, b, h); of an embedding (s, b)
  int parts = 1;  ///< ranks that the layer is divided over
};

/// `saves`: a backward will come.
Recipe stack_forward(const StackCall& call, bool saves);
/// A backward or half of one, as the verb says; `saved` is the recipe of the call before it, whose bytes go.
Recipe stack_pass_back(const StackCall& call, detail::Verb verb, const Recipe& saved);
/// The calls of a layer that a software stack says the costs of: forward, backward and its halves.
bool is_pass_of_stack(detail::Verb verb);

}  // namespace shardlings::front

#include "front/model/stack_recipe.h"

#include <algorithm>

namespace shardlings::front {
namespace {

using model::Exchange;
using model::Recompute;
using model::StackRow;

constexpr auto kActivation = static_cast<std::size_t>(Kind::activation);

/// Puts rows one behind the other; a collective ends a step.
class StackRecipe {
 public:
  explicit StackRecipe(const StackCall& call)
      : call_(call),
        extents_(extents_of(call.block, call.x[0], call.x[1], call.parts, call.stack.sequence_parallel)),
        // What a rank shares with others is in the extents.
        element_(weight(1, DType::f32, Kind::buffer, call.costs.cluster().mixed)) {
    recipe_.steps.emplace_back();
  }

  void add(const std::vector<StackRow>& rows, bool inner_alone = false) {
    for (const StackRow& row : rows) {
      if (!inner_alone || row.inner) row.exchange == Exchange::none ? add_kernel(row) : add_exchange(row.exchange);
    }
  }
  /// What stays of the block, or of its inner attention alone.
  Bytes kept(bool inner, bool outer) const {
    Bytes sum;
    for (const model::StackKept& kept : call_.stack.kept) {
      if (kept.inner ? inner : outer) sum += bytes_of(kept.elements, kept.masks, extents_, element_);
    }
    return sum;
  }
  Bytes workspace() const { return bytes_of(call_.stack.workspace, {}, extents_, element_); }
  Bytes output() const { return call_.costs.weight(call_.x.size(), DType::f32, Kind::activation); }

  /// Memory rises by so much at once, when the call begins; what it changes by is changed when it ends.
  Recipe finish(Bytes rise, Bytes change) {
    LedgerChange& first = recipe_.steps.front().memory;
    first.rise = first.rise_by_kind[kActivation] = rise;
    LedgerChange& last = recipe_.steps.back().memory;
    last.change = last.change_by_kind[kActivation] = change;
    recipe_.most = rise;
    for (RecipeStep& step : recipe_.steps) ++step.calls;
    return std::move(recipe_);
  }
  Recipe& recipe() { return recipe_; }

 private:
  void add_kernel(const StackRow& row) {
    const model::KernelCost cost = cost_of(row, extents_, element_, call_.stack.causal_flash);
    RecipeStep& step = recipe_.steps.back();
    step.spent.time += call_.costs.operation({cost.flops, cost.traffic, cost.matrix, DType::f32});
    step.spent.flops += cost.flops;
    ++step.spent.operations;
    ++step.calls;
  }

  void add_exchange(Exchange exchange) {
    const bool is_sequence = call_.stack.sequence_parallel;
    if (call_.parts == 1 || (exchange == Exchange::gather && !is_sequence)) return;
    back::Signature signature;
    signature.kind = exchange == Exchange::gather               ? back::Collective::all_gather
                     : exchange == Exchange::sum && is_sequence ? back::Collective::reduce_scatter
                                                                : back::Collective::all_reduce;
    signature.members = call_.parts;
    signature.count = call_.x.size();
    recipe_.steps.back().collective = signature;
    recipe_.steps.emplace_back();
  }

  const StackCall& call_;
  model::BlockExtents extents_;
  Bytes element_;
  Recipe recipe_;
};

}  // namespace

Recipe stack_forward(const StackCall& call, bool saves) {
  StackRecipe made(call);
  made.add(call.stack.forward);
  const Bytes kept =
      saves && call.recompute != Recompute::full ? made.kept(call.recompute == Recompute::off, true) : Bytes(0);
  made.recipe().result = {true, call.x, DType::f32, Kind::activation};
  made.recipe().saved_bytes[kActivation] = kept;
  return made.finish(std::max(kept + made.output(), made.workspace()), kept + made.output());
}

Recipe stack_backward(const StackCall& call, const Recipe& saved) {
  StackRecipe made(call);
  if (call.recompute != Recompute::off) made.add(call.stack.forward, call.recompute == Recompute::selective);
  made.add(call.stack.backward);
  const Bytes again = call.recompute == Recompute::off ? Bytes(0) : made.kept(true, call.recompute == Recompute::full);
  // The gradient of the block's input takes the place of that of its output.
  made.recipe().returns_taken = true;
  made.recipe().result = {true, call.x, DType::f32, Kind::activation};
  return made.finish(again + made.workspace(), Bytes(0) - saved.saved_bytes[kActivation]);
}

}  // namespace shardlings::front

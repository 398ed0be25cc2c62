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
        extents_(extents_of(call.layer, call.x[0], call.x[1], call.parts, call.stack.sequence_parallel)),
        // What a rank shares with others is in the extents.
        element_(weight(1, DType::f32, Kind::buffer, call.costs.cluster().mixed)) {
    recipe_.steps.emplace_back();
  }

  void add(const std::vector<StackRow>& rows, bool inner_alone = false) {
    for (const StackRow& row : rows) {
      if (!inner_alone || row.inner) add_row(row);
    }
  }
  /// Of backward's rows those of the gradients of weights, or the others.
  void add_half(bool of_weights) {
    for (const StackRow& row : call_.stack.backward) {
      if (row.weights == of_weights) add_row(row);
    }
  }
  /// What the first half leaves for the second one: both sides of the products with weights.
  Bytes kept_for_weights() const {
    Bytes sum;
    for (const StackRow& row : call_.stack.backward) {
      if (!row.weights) continue;
      for (const model::Width side : {row.in, row.out}) sum += bytes_of(elements_of(side), {}, extents_, element_);
    }
    return sum;
  }
  /// What stays of the block, or of its inner attention alone.
  Bytes kept(bool inner, bool outer) const {
    Bytes sum;
    for (const model::StackKept& kept : call_.stack.kept) {
      if (kept.inner ? inner : outer) sum += bytes_of(kept.elements, kept.masks, extents_, element_);
    }
    return sum;
  }
  /// Of what forward has not kept, the rows of it that backward begins with; returns the bytes.
  Bytes compute_again() {
    if (call_.recompute == Recompute::off) return Bytes(0);
    add(call_.stack.forward, call_.recompute == Recompute::selective);
    return kept(true, call_.recompute == Recompute::full);
  }
  Bytes workspace() const { return bytes_of(call_.stack.workspace, {}, extents_, element_); }
  /// An activation of that width.
  Bytes activation(Count width) const {
    return call_.costs.weight(extents_.rows * width, DType::f32, Kind::activation);
  }
  Bytes output() const { return activation(call_.layer.out); }
  RecipeTensor activation_of(Count width) const {
    return {true, {call_.x[0], call_.x[1], width}, DType::f32, Kind::activation};
  }

  /// One that reads or writes so many elements of the width h.
  void add_move(Count width, Count times) { add_kernel({Flops(0), element_ * (extents_.rows * width * times), false}); }
  /// (T, in) times (in, out), or one of its gradients, which have the same three sides.
  void add_product(Count in, Count out) {
    const Count rows = extents_.rows;
    add_kernel({Flops(2 * rows * in * out), element_ * (rows * (in + out) + in * out), true});
  }
  /// Of the members' terms of an (s, b, width).
  void add_sum(Count width) {
    if (call_.parts > 1) add_collective(back::Collective::all_reduce, extents_.rows * width);
  }

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
  void add_kernel(const model::KernelCost& cost) {
    RecipeStep& step = recipe_.steps.back();
    step.spent.time += call_.costs.operation({cost.flops, cost.traffic, cost.matrix, DType::f32});
    step.spent.flops += cost.flops;
    ++step.spent.operations;
    ++step.calls;
  }

  void add_row(const StackRow& row) {
    if (row.exchange != Exchange::none) return add_exchange(row.exchange);
    add_kernel(cost_of(row, extents_, element_, call_.stack.causal_flash));
  }

  void add_exchange(Exchange exchange) {
    const bool is_sequence = call_.stack.sequence_parallel;
    if (call_.parts == 1 || (exchange == Exchange::gather && !is_sequence)) return;
    const bool scatters = exchange == Exchange::sum && is_sequence;
    add_collective(exchange == Exchange::gather ? back::Collective::all_gather
                   : scatters                   ? back::Collective::reduce_scatter
                                                : back::Collective::all_reduce,
                   call_.x.size());
  }

  void add_collective(back::Collective kind, Count count) {
    back::Signature signature;
    signature.kind = kind;
    signature.members = call_.parts;
    signature.count = count;
    recipe_.steps.back().collective = signature;
    recipe_.steps.emplace_back();
  }

  const StackCall& call_;
  model::BlockExtents extents_;
  Bytes element_;
  Recipe recipe_;
};

// The embedding copies rows of its table. Of a part that does not have an id's row it has zeros, so parts are summed.
Recipe llama_embedding_forward(const StackCall& call) {
  StackRecipe made(call);
  made.add_move(call.layer.out, 2);
  made.add_sum(call.layer.out);
  made.recipe().result = made.activation_of(call.layer.out);
  return made.finish(made.output(), made.output());
}

Recipe llama_embedding_backward(const StackCall& call) {
  StackRecipe made(call);
  made.add_move(call.layer.out, 3);
  return made.finish(Bytes(0), Bytes(0) - made.output());
}

// As of a GPT's head: the normed input is kept.
Recipe llama_head_forward(const StackCall& call, bool saves) {
  StackRecipe made(call);
  const Bytes normed = made.activation(call.layer.in);
  made.add_move(call.layer.in, 2);
  made.add_product(call.layer.in, call.layer.out);
  made.recipe().result = made.activation_of(call.layer.out);
  made.recipe().saved_bytes[kActivation] = saves ? normed : Bytes(0);
  return made.finish(normed + made.output(), made.output() + (saves ? normed : Bytes(0)));
}

// The gradient of the normed input takes the place of what was saved, and the logits' gradient is gone before the norm.
Recipe llama_head_backward(const StackCall& call, const Recipe& saved) {
  StackRecipe made(call);
  const Bytes input = made.activation(call.layer.in), kept = saved.saved_bytes[kActivation];
  made.add_product(call.layer.in, call.layer.out);
  made.add_product(call.layer.in, call.layer.out);
  made.add_sum(call.layer.in);
  made.add_move(call.layer.in, 3);
  made.recipe().result = made.activation_of(call.layer.in);
  return made.finish(std::max(Bytes(0), input - made.output()), input - kept - made.output());
}

// The gradient that is given stays for the second half.
Recipe llama_embedding_backward_input(const StackCall& call) {
  StackRecipe made(call);
  made.recipe().saved_bytes[kActivation] = made.output();
  return made.finish(Bytes(0), Bytes(0));
}

// Beside what was saved the logits' gradient stays.
Recipe llama_head_backward_input(const StackCall& call, const Recipe& saved) {
  StackRecipe made(call);
  const Bytes input = made.activation(call.layer.in);
  made.add_product(call.layer.in, call.layer.out);
  made.add_sum(call.layer.in);
  made.add_move(call.layer.in, 3);
  made.recipe().result = made.activation_of(call.layer.in);
  made.recipe().saved_bytes[kActivation] = saved.saved_bytes[kActivation] + made.output();
  return made.finish(2 * input, input);
}

Recipe stack_backward(const StackCall& call, const Recipe& saved) {
  if (call.layer.type == model::LayerStructure::Type::embedding) return llama_embedding_backward(call);
  if (call.layer.type == model::LayerStructure::Type::head) return llama_head_backward(call, saved);
  StackRecipe made(call);
  const Bytes again = made.compute_again();
  made.add(call.stack.backward);
  // The gradient of the block's input takes the place of that of its output.
  made.recipe().returns_taken = true;
  made.recipe().result = {true, call.x, DType::f32, Kind::activation};
  return made.finish(again + made.workspace(), Bytes(0) - saved.saved_bytes[kActivation]);
}

// The gradient of the block's output is a side of a product: it is among what is kept.
Recipe stack_backward_input(const StackCall& call, const Recipe& saved) {
  if (call.layer.type == model::LayerStructure::Type::embedding) return llama_embedding_backward_input(call);
  if (call.layer.type == model::LayerStructure::Type::head) return llama_head_backward_input(call, saved);
  StackRecipe made(call);
  const Bytes again = made.compute_again(), kept = made.kept_for_weights();
  made.add_half(false);
  made.recipe().result = {true, call.x, DType::f32, Kind::activation};
  made.recipe().saved_bytes[kActivation] = kept;
  const Bytes growth = kept - saved.saved_bytes[kActivation];
  return made.finish(again + made.workspace() + std::max(Bytes(0), growth), growth);
}

Recipe stack_backward_weights(const StackCall& call, const Recipe& saved) {
  StackRecipe made(call);
  if (call.layer.type == model::LayerStructure::Type::embedding) {
    made.add_move(call.layer.out, 3);
  } else if (call.layer.type == model::LayerStructure::Type::head) {
    made.add_product(call.layer.in, call.layer.out);
  } else {
    made.add_half(true);
  }
  return made.finish(Bytes(0), Bytes(0) - saved.saved_bytes[kActivation]);
}

}  // namespace

Recipe stack_forward(const StackCall& call, bool saves) {
  if (call.layer.type == model::LayerStructure::Type::embedding) return llama_embedding_forward(call);
  if (call.layer.type == model::LayerStructure::Type::head) return llama_head_forward(call, saves);
  StackRecipe made(call);
  made.add(call.stack.forward);
  const Bytes kept =
      saves && call.recompute != Recompute::full ? made.kept(call.recompute == Recompute::off, true) : Bytes(0);
  made.recipe().result = {true, call.x, DType::f32, Kind::activation};
  made.recipe().saved_bytes[kActivation] = kept;
  return made.finish(std::max(kept + made.output(), made.workspace()), kept + made.output());
}

Recipe stack_pass_back(const StackCall& call, detail::Verb verb, const Recipe& saved) {
  if (verb == detail::Verb::layer_backward_input) return stack_backward_input(call, saved);
  if (verb == detail::Verb::layer_backward_weights) return stack_backward_weights(call, saved);
  return stack_backward(call, saved);
}

bool is_pass_of_stack(detail::Verb verb) {
  return verb == detail::Verb::layer_forward || verb == detail::Verb::layer_backward ||
         verb == detail::Verb::layer_backward_input || verb == detail::Verb::layer_backward_weights;
}

}  // namespace shardlings::front

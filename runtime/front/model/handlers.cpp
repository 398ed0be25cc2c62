// The calls of a model.
#include "front/model/handlers.h"

#include <fmt/format.h>

#include <utility>

#include "api/access.h"
#include "api/arguments.h"
#include "base/text.h"
#include "front/model/checks.h"
#include "front/model/layer_call.h"
#include "front/model/layers.h"
#include "front/model/weight_gradients.h"
#include "model/memory.h"
#include "model/software_stack.h"

namespace shardlings::front {

using detail::Access;
using detail::Call;
using detail::Reply;
using model::LayerStructure;
namespace unpacked = detail::unpacked;

namespace {

/// Runs `body` as one call of the model: on clusters with a table of calls it costs a fixed time.
template <class Body>
Tensor as_one_call(RankModels& of, const Call& call, const LayerWork& work, Body body) {
  of.meter.begin_layer_call(call);
  try {
    Tensor result = body();
    of.meter.end_layer_call(work, call);
    return result;
  } catch (...) {
    of.meter.end_layer_call(work, call);
    throw;
  }
}

/// A direction of a layer, or half of one, for a micro-batch with inputs of that shape.
LayerWork work_on(RankModels& of, const LayerStructure& layer, EventKind kind, Label label, const Shape& x) {
  LayerWork work{kind, label, sequences_of(x, layer.type == LayerStructure::Type::embedding)};
  const bool goes_back = kind == EventKind::backward || kind == EventKind::backward_input;
  work.forward_again = goes_back && layer.type == LayerStructure::Type::block &&
                       of.rank.options().execution.recompute == model::Recompute::full;
  return work;
}

template <detail::FieldKind kind>
View view(RankModels& of, const Call& call, detail::Argument<kind> argument) {
  return Access::view(&of.port, call.tensor[argument.index]);
}

/// An argument that the call uses up.
Tensor taken(RankModels& of, const Call& call, detail::Argument<detail::FieldKind::takes> argument) {
  return Access::adopt(&of.port, call.tensor[argument.index]);
}

void mark(RankModels& of, const Tensor& tensor, Label label) {
  if (tensor) of.memory.storages().at(Access::ref(tensor).storage).label = label;
}

void mark_all(RankModels& of, const SavedEntry& saved) {
  for (const Tensor& tensor : saved.tensors) mark(of, tensor, saved.label);
}

/// A result leaves the runtime: shaped as it is documented, labelled with its micro-batch.
detail::Ref handed_out(RankModels& of, Tensor&& result, const Shape& shape, int micro) {
  mark(of, result, {micro, -1});
  detail::Ref ref = Access::release(std::move(result));
  if (ref.storage != 0) ref.shape = shape;
  return ref;
}

/// What a call is told of the Saved that it uses up.
struct SavedUse {
  Label label;
  Shape input;
  bool for_weights = false;  ///< it must come from backward_input, else from forward
};

/// Why the Saved is not the one that the call needs; empty if it is.
std::string mismatch(const SavedEntry& entry, const SavedUse& use) {
  if (entry.label.layer != use.label.layer) return fmt::format("the Saved is that of layer {}", entry.label.layer);
  if (entry.for_weights && !use.for_weights) {
    return "backward_input has been called with this Saved already; what is left of its backward is backward_weights";
  }
  if (!entry.for_weights && use.for_weights) {
    return "backward_input has not been called with this Saved yet; it leaves in it what the gradients of the weights "
           "need";
  }
  if (entry.label.micro >= 0 && use.label.micro >= 0 && entry.label.micro != use.label.micro) {
    return fmt::format("x is of micro-batch {}, but the Saved of micro-batch {}", use.label.micro, entry.label.micro);
  }
  if (entry.input == use.input) return "";
  return fmt::format("x has shape {}, but the Saved is of a forward whose x had {}", to_text(use.input),
                     to_text(entry.input));
}

void require_saved(RankModels& of, const Call& call, int layer) {
  if (of.saved.contains(call.id)) return;
  of.rank.invalid(call, fmt::format("{}: the Saved is empty: forward of this layer was not given it, or a backward has "
                                    "used it up already",
                                    call_text(call, layer)));
}

/// Takes what forward or backward_input saved out of the table, if it is this layer's and this micro-batch's.
SavedEntry take_saved(RankModels& of, const Call& call, const SavedUse& use) {
  require_saved(of, call, use.label.layer);
  SavedEntry entry = of.saved.take(call.id);
  const std::string why = mismatch(entry, use);
  if (why.empty()) return entry;
  make_tensors(of, entry);  // whose memory goes with them
  of.rank.invalid(call, fmt::format("{}: {}", call_text(call, use.label.layer), why));
}

/// A layer's weights and input, checked: what both directions begin with.
struct LayerInputs {
  const LayerStructure& structure;
  Operand weights;
  Operand x;
  Label label;
};

template <class Given>
LayerInputs inputs_of(RankModels& of, const Call& call, const Given& given) {
  const int l = given.layer;
  const LayerStructure& structure = checked_layer(of, call, l);
  const Operand weights = of.memory.reading(call, given.weights);
  check_weights(of, call, {structure, l}, weights, "weights");
  const Operand x = of.memory.reading(call, given.x);
  check_input(of, call, {structure, l}, x);
  check_types(of, call, {structure, l}, weights, x);
  return {structure, weights, x, {x.label.micro, l}};
}

/// How long a software stack's optimizer takes that does not divide its work; 0: as long as the program's.
Nanos whole_update(RankModels& of, const LayerStructure& layer) {
  const model::SoftwareStack* stack = of.rank.options().execution.stack.get();
  if (stack == nullptr || stack->optimizer_bytes == 0) return Nanos(0);
  const double traffic = stack->optimizer_bytes * static_cast<double>(layer.range.size());
  return of.rank.costs().operation({Flops(0), Bytes(static_cast<std::int64_t>(traffic))});
}

/// What the mathematics of both directions are given.
template <class Given>
LayerArguments arguments_of(RankModels& of, const Call& call, const Given& given, const LayerStructure& structure,
                            int micro) {
  const Location at = of.rank.place(call);
  return {structure,
          {structure, view(of, call, given.weights), at},
          Access::labelled(view(of, call, given.x), micro),
          at,
          model_of(of, call).tp,
          of.rank.options().execution.recompute};
}

}  // namespace

Reply handle::layer_forward(RankModels& of, const Call& call) {
  const unpacked::layer_forward given(call);
  const auto [structure, weights, x, label] = inputs_of(of, call, given);

  LayerCall layer_call(of, call, structure);
  layer_call.reads(weights);
  layer_call.reads(x);
  SavedEntry entry;
  entry.label = label;
  entry.input = x.shape();
  SavedEntry* const saved = given.saves ? &entry : nullptr;
  if (saved) layer_call.saves();
  const auto operations = [&, &structure = structure, micro = label.micro] {
    Recording recording(layer_call);
    Tensor y = forward_of(arguments_of(of, call, given, structure, micro), saved ? &saved->tensors : nullptr);
    if (saved) mark_all(of, *saved);
    recording.end(y, saved);
    return y;
  };
  Tensor y = as_one_call(of, call, work_on(of, structure, EventKind::forward, label, x.shape()), [&] {
    const Recipe* recipe = layer_call.recipe();
    return recipe ? layer_call.repeat(*recipe, {}, saved) : operations();
  });
  ++of.rank.counters().layer_forwards;
  Reply reply;
  if (saved) reply.id = of.saved.insert(std::move(entry));
  reply.tensor[0] = handed_out(of, std::move(y), output_shape(structure, x.shape()), label.micro);
  return reply;
}

Reply handle::layer_backward(RankModels& of, const Call& call) {
  const unpacked::layer_backward given(call);
  Tensor grad = taken(of, call, given.grad);
  const auto [structure, weights, x, label] = inputs_of(of, call, given);
  const int l = given.layer;
  const Operand found = of.memory.reading(call, given.grad);
  check_grad(of, call, {structure, l}, x, found);
  Operand sum = of.memory.writing(call, given.grad_weights);
  check_weights(of, call, {structure, l}, sum, "gradients of the weights");
  check_grad_type(of, call, l, weights, found);
  check_sum_type(of, call, l, weights.dtype(), sum);
  SavedEntry entry = take_saved(of, call, {label, x.shape(), false});
  of.memory.label_whole(sum, {-1, l});
  sum.label = of.memory.label_of(sum.ref);

  LayerCall layer_call(of, call, structure);
  layer_call.uses_up(entry);
  layer_call.reads(weights);
  layer_call.reads(x);
  layer_call.takes(found);
  layer_call.writes(sum);
  const auto operations = [&, &structure = structure, micro = label.micro] {
    make_tensors(of, entry);
    Recording recording(layer_call);
    const LayerArguments layer = arguments_of(of, call, given, structure, micro);
    const Entries<View> grads(structure, view(of, call, given.grad_weights), layer.at);
    WeightGradients added(layer, grads);
    Tensor grad_x = backward_of(layer, std::move(entry.tensors), std::move(grad), added);
    recording.end(grad_x, nullptr);
    return grad_x;
  };
  Tensor grad_x = as_one_call(of, call, work_on(of, structure, EventKind::backward, label, x.shape()), [&] {
    const Recipe* recipe = layer_call.recipe();
    return recipe ? layer_call.repeat(*recipe, std::move(grad)) : operations();
  });
  ++of.rank.counters().layer_backwards;
  Reply reply;
  reply.tensor[0] = handed_out(of, std::move(grad_x), x.shape(), label.micro);
  return reply;
}

Reply handle::layer_backward_input(RankModels& of, const Call& call) {
  const unpacked::layer_backward_input given(call);
  Tensor grad = taken(of, call, given.grad);
  const auto [structure, weights, x, label] = inputs_of(of, call, given);
  const Operand found = of.memory.reading(call, given.grad);
  check_grad(of, call, {structure, given.layer}, x, found);
  check_grad_type(of, call, given.layer, weights, found);
  SavedEntry entry = take_saved(of, call, {label, x.shape(), false});
  SavedEntry kept;
  kept.label = {label.micro >= 0 ? label.micro : entry.label.micro, given.layer};
  kept.input = x.shape();
  kept.for_weights = true;
  kept.dtype = weights.dtype();

  LayerCall layer_call(of, call, structure);
  layer_call.uses_up(entry);
  layer_call.reads(weights);
  layer_call.reads(x);
  layer_call.takes(found);
  layer_call.saves();
  const auto operations = [&, &structure = structure, micro = label.micro] {
    make_tensors(of, entry);
    Recording recording(layer_call);
    const LayerArguments layer = arguments_of(of, call, given, structure, micro);
    WeightGradients later(layer, kept.tensors);
    Tensor grad_x = backward_of(layer, std::move(entry.tensors), std::move(grad), later);
    mark_all(of, kept);
    recording.end(grad_x, &kept);
    return grad_x;
  };
  Tensor grad_x = as_one_call(of, call, work_on(of, structure, EventKind::backward_input, label, x.shape()), [&] {
    const Recipe* recipe = layer_call.recipe();
    return recipe ? layer_call.repeat(*recipe, std::move(grad), &kept) : operations();
  });
  Reply reply;
  reply.id = of.saved.insert(std::move(kept));
  reply.tensor[0] = handed_out(of, std::move(grad_x), x.shape(), label.micro);
  return reply;
}

Reply handle::layer_backward_weights(RankModels& of, const Call& call) {
  const unpacked::layer_backward_weights given(call);
  const int l = given.layer;
  const LayerStructure& structure = checked_layer(of, call, l);
  const Operand sum = of.memory.writing(call, given.grad_weights);
  check_weights(of, call, {structure, l}, sum, "gradients of the weights");
  const Operand x = of.memory.reading(call, given.x);
  if (x || model::weights_read_x(structure)) check_input(of, call, {structure, l}, x);
  require_saved(of, call, l);
  const SavedEntry& waiting = of.saved.look(call.id);
  if (waiting.for_weights) check_sum_type(of, call, l, waiting.dtype, sum);
  const Shape input = x ? x.shape() : waiting.input;
  SavedEntry entry = take_saved(of, call, {{x.label.micro, l}, input, true});
  const Label label = entry.label;
  of.memory.label_whole(sum, {-1, l});

  LayerCall layer_call(of, call, structure);
  layer_call.uses_up(entry);
  layer_call.writes(of.memory.writing(call, given.grad_weights));  // which has its label by now
  layer_call.may_read(x);
  const auto operations = [&]() -> Tensor {
    make_tensors(of, entry);
    Recording recording(layer_call);
    const Location at = of.rank.place(call);
    const ConstView input_again = x ? Access::labelled(view(of, call, given.x), label.micro) : ConstView();
    const LayerArguments layer{structure, {structure, {}, at}, input_again, at, model_of(of, call).tp};
    const Entries<View> grads(structure, view(of, call, given.grad_weights), at);
    backward_weights_of(layer, std::move(entry.tensors), grads);
    recording.end({}, nullptr);
    return {};
  };
  as_one_call(of, call, work_on(of, structure, EventKind::backward_weights, label, input), [&] {
    const Recipe* recipe = layer_call.recipe();
    return recipe ? layer_call.repeat(*recipe) : operations();
  });
  ++of.rank.counters().layer_backwards;  // it is complete
  return {};
}

Reply handle::layer_loss(RankModels& of, const Call& call) {
  const unpacked::layer_loss given(call);
  Tensor logits = taken(of, call, given.logits);
  const Operand found = of.memory.writing(call, given.logits);
  check_loss(of, call, found, of.memory.reading(call, given.targets), of.memory.writing(call, given.loss));
  const Label label{found.label.micro, -1};
  const detail::RankModel& model = model_of(of, call);
  const LayerStructure& head = model.structure->layers.back();
  const Count outputs = model.structure->spec.outputs;

  LayerCall layer_call(of, call, head);
  layer_call.depends_on(outputs);
  layer_call.takes(found);
  layer_call.reads(of.memory.reading(call, given.targets));
  layer_call.writes(of.memory.writing(call, given.loss));
  const auto operations = [&] {
    Recording recording(layer_call);
    const View targets = view(of, call, given.targets), loss = view(of, call, given.loss);
    const Location at = of.rank.place(call);
    Tensor grad = model.tp.size() > 1 ? divided_loss(model.tp, {head.vocabulary, outputs}, std::move(logits), targets,
                                                     given.tokens, loss, at)
                                      : cross_entropy(std::move(logits), targets, given.tokens, loss, at);
    recording.end(grad, nullptr);
    return grad;
  };
  Tensor grad = as_one_call(of, call, {EventKind::loss, label}, [&] {
    const Recipe* recipe = layer_call.recipe();
    return recipe ? layer_call.repeat(*recipe, std::move(logits)) : operations();
  });
  Reply reply;
  reply.tensor[0] = handed_out(of, std::move(grad), found.shape(), label.micro);
  return reply;
}

Reply handle::layer_update(RankModels& of, const Call& call) {
  const unpacked::layer_update given(call);
  check_update(of, call, given.layer);
  const model::ModelStructure& structure = *model_of(of, call).structure;
  const model::ModelSpec& spec = structure.spec;
  const bool adam_step = spec.optimizer == model::ModelSpec::Optimizer::adam;

  LayerCall layer_call(of, call, structure.layers[static_cast<std::size_t>(given.layer)]);
  layer_call.depends_on(static_cast<std::int64_t>(spec.optimizer));
  layer_call.require(given.step >= 1);  // else the optimizer complains of it
  layer_call.may_use(given.weights);
  layer_call.may_use(given.grad);
  if (adam_step) layer_call.may_use(given.m);
  if (adam_step) layer_call.may_use(given.v);
  layer_call.may_use(given.factor);
  const auto operations = [&]() -> Tensor {
    Recording recording(layer_call);
    const View weights = view(of, call, given.weights), grad = view(of, call, given.grad),
               factor = view(of, call, given.factor);
    const Location at = of.rank.place(call);
    if (adam_step) {
      AdamStep step;
      step.lr = spec.lr;
      step.eps = spec.eps;
      step.step = given.step;
      adam(weights, grad, view(of, call, given.m), view(of, call, given.v), step, factor, {}, at);
    } else {
      sgd(weights, grad, spec.lr, factor, at);
    }
    recording.end({}, nullptr);
    return {};
  };
  as_one_call(of, call, {EventKind::update, {-1, given.layer}}, [&] {
    const Recipe* recipe = layer_call.recipe();
    Tensor none = recipe ? layer_call.repeat(*recipe) : operations();
    of.meter.last_at_least(whole_update(of, structure.layers[static_cast<std::size_t>(given.layer)]));
    return none;
  });
  return {};
}

Reply handle::drop_saved(RankModels& of, const Call& call) {
  const SavedEntry entry = of.saved.take(call.id);
  if (entry.recipe) of.memory.remove(entry.recipe->saved_bytes);
  return {};
}

}  // namespace shardlings::front

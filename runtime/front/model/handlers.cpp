// The calls of a model.
#include "front/handlers.h"

#include <fmt/format.h>

#include <utility>

#include "api/access.h"
#include "api/arguments.h"
#include "base/text.h"
#include "front/group/desk.h"
#include "front/model/checks.h"
#include "front/model/layers.h"
#include "front/model/model_table.h"
#include "front/model/saved_table.h"

namespace shardlings::front {

using detail::Access;
using detail::Call;
using detail::Reply;
using model::LayerPlan;
namespace unpacked = detail::unpacked;

namespace {

/// Runs `work` as one call of the model: on clusters with a table of calls it costs a fixed time.
template <class Work>
Tensor as_one_call(RankFront& front, const Call& call, EventKind kind, Label label, Work work) {
  front.begin_layer_call(call);
  try {
    Tensor result = work();
    front.end_layer_call(kind, name_of(call.verb), call, label);
    return result;
  } catch (...) {
    front.end_layer_call(kind, name_of(call.verb), call, label);
    throw;
  }
}

template <detail::FieldKind kind>
View view(RankFront& front, const Call& call, detail::Argument<kind> argument) {
  return Access::view(&front.port(), call.tensor[argument.index]);
}

/// An argument that the call uses up.
Tensor taken(RankFront& front, const Call& call, detail::Argument<detail::FieldKind::takes> argument) {
  return Access::adopt(&front.port(), call.tensor[argument.index]);
}

void mark(RankFront& front, const Tensor& tensor, Label label) {
  if (tensor) front.storages().at(Access::ref(tensor).storage).label = label;
}

/// A result leaves the runtime: shaped as it is documented, labelled with its micro-batch.
detail::Ref handed_out(RankFront& front, Tensor result, const Shape& shape, int micro) {
  mark(front, result, {micro, -1});
  detail::Ref ref = Access::release(std::move(result));
  if (ref.storage != 0) ref.shape = shape;
  return ref;
}

/// Takes what forward saved out of the table, if it is this layer's and this micro-batch's.
SavedEntry take_saved(RankFront& front, const Call& call, const Operand& x, Label label) {
  if (!front.saved().contains(call.id)) {
    front.invalid(call, fmt::format("{}: the Saved is empty: forward of this layer was not given it, or a backward has "
                                    "used it up already",
                                    call_text(call, label.layer)));
  }
  SavedEntry entry = front.saved().take(call.id);
  if (entry.label.layer != label.layer) {
    front.invalid(call,
                  fmt::format("{}: the Saved is that of layer {}", call_text(call, label.layer), entry.label.layer));
  }
  if (entry.label.micro >= 0 && label.micro >= 0 && entry.label.micro != label.micro) {
    front.invalid(call, fmt::format("{}: x is of micro-batch {}, but the Saved of micro-batch {}",
                                    call_text(call, label.layer), label.micro, entry.label.micro));
  }
  if (entry.input != x.shape()) {
    front.invalid(call, fmt::format("{}: x has shape {}, but the Saved is of a forward whose x had {}",
                                    call_text(call, label.layer), to_text(x.shape()), to_text(entry.input)));
  }
  return entry;
}

/// What both directions of a layer are given.
template <class Given>
LayerArguments arguments_of(RankFront& front, const Call& call, const Given& given, const LayerPlan& plan, int micro) {
  const Location at = front.place(call);
  return {plan,
          {plan, view(front, call, given.weights), at},
          Access::labelled(view(front, call, given.x), micro),
          at,
          model_of(front, call).tp};
}

}  // namespace

Reply handle::layer_forward(RankFront& front, const Call& call) {
  const unpacked::layer_forward given(call);
  const int l = given.layer;
  const LayerPlan& plan = checked_layer(front, call, l);
  const Operand weights = front.reading(call, given.weights);
  check_weights(front, call, l, weights, "weights");
  const Operand x = front.reading(call, given.x);
  check_input(front, call, l, x);
  check_types(front, call, l, weights, x);
  const Label label{x.label.micro, l};

  const LayerArguments layer = arguments_of(front, call, given, plan, label.micro);
  std::vector<Tensor> saved;
  Tensor y = as_one_call(front, call, EventKind::forward, label,
                         [&] { return forward_of(layer, given.saves ? &saved : nullptr); });
  ++front.counters().layer_forwards;
  Reply reply;
  if (given.saves) {
    for (const Tensor& tensor : saved) mark(front, tensor, label);
    reply.id = front.saved().insert({std::move(saved), label, x.shape()});
  }
  reply.tensor[0] = handed_out(front, std::move(y), output_shape(plan, x.shape()), label.micro);
  return reply;
}

Reply handle::layer_backward(RankFront& front, const Call& call) {
  const unpacked::layer_backward given(call);
  Tensor grad = taken(front, call, given.grad);
  const int l = given.layer;
  const LayerPlan& plan = checked_layer(front, call, l);
  const Operand weights = front.reading(call, given.weights);
  check_weights(front, call, l, weights, "weights");
  const Operand x = front.reading(call, given.x);
  check_input(front, call, l, x);
  check_types(front, call, l, weights, x);
  check_grad(front, call, l, x, front.reading(call, given.grad));
  check_weights(front, call, l, front.writing(call, given.grad_weights), "gradients of the weights");
  check_grad_types(front, call, l, weights, front.reading(call, given.grad), front.writing(call, given.grad_weights));
  const Label label{x.label.micro, l};
  SavedEntry entry = take_saved(front, call, x, label);
  front.label_whole(front.writing(call, given.grad_weights), {-1, l});

  const LayerArguments layer = arguments_of(front, call, given, plan, label.micro);
  const Entries<View> grads(plan, view(front, call, given.grad_weights), layer.at);
  Tensor grad_x = as_one_call(front, call, EventKind::backward, label,
                              [&] { return backward_of(layer, std::move(entry.tensors), std::move(grad), grads); });
  ++front.counters().layer_backwards;
  Reply reply;
  reply.tensor[0] = handed_out(front, std::move(grad_x), x.shape(), label.micro);
  return reply;
}

Reply handle::layer_loss(RankFront& front, const Call& call) {
  const unpacked::layer_loss given(call);
  Tensor logits = taken(front, call, given.logits);
  const Operand found = front.writing(call, given.logits);
  check_loss(front, call, found, front.reading(call, given.targets), front.writing(call, given.loss));
  const Label label{found.label.micro, -1};
  const detail::RankModel& model = model_of(front, call);
  const View targets = view(front, call, given.targets), loss = view(front, call, given.loss);
  const Location at = front.place(call);
  Tensor grad = as_one_call(front, call, EventKind::loss, label, [&] {
    if (model.tp.size() > 1) {
      return divided_loss(model.tp, {model.plan.layers.back().vocabulary, model.plan.spec.outputs}, std::move(logits),
                          targets, given.tokens, loss, at);
    }
    return cross_entropy(std::move(logits), targets, given.tokens, loss, at);
  });
  Reply reply;
  reply.tensor[0] = handed_out(front, std::move(grad), found.shape(), label.micro);
  return reply;
}

Reply handle::layer_update(RankFront& front, const Call& call) {
  const unpacked::layer_update given(call);
  check_update(front, call, given.layer);
  const model::ModelSpec& spec = model_of(front, call).plan.spec;
  const View weights = view(front, call, given.weights), grad = view(front, call, given.grad),
             factor = view(front, call, given.factor);
  const Location at = front.place(call);
  as_one_call(front, call, EventKind::update, {-1, given.layer}, [&]() -> Tensor {
    if (spec.optimizer == model::ModelSpec::Optimizer::sgd) {
      sgd(weights, grad, spec.lr, factor, at);
    } else {
      AdamStep step;
      step.lr = spec.lr;
      step.eps = spec.eps;
      step.step = given.step;
      adam(weights, grad, view(front, call, given.m), view(front, call, given.v), step, factor, {}, at);
    }
    return {};
  });
  return {};
}

Reply handle::drop_saved(RankFront& front, const Call& call) {
  front.saved().take(call.id);
  return {};
}

Reply handle::add_model(RankFront& front, const Call& call) {
  const unpacked::add_model given(call);
  const auto lent = front.doors().lent(given.plan);
  const auto* plan = std::get_if<const model::ModelPlan*>(&lent);
  if (plan == nullptr) front.invalid(call, "add_model: no plan is lent to it");
  Reply reply;
  reply.model = front.models().add({**plan, given.divided ? front.groups().handle_of(call) : Group(), 0});
  return reply;
}

}  // namespace shardlings::front

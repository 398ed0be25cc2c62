// The calls of a model. `host` is the RankModel in all of them but drop_saved.
//   layer_forward: tensor = weights, x; number = layer, 1 to save; reply: the output, id of the Saved
//   layer_backward: tensor = weights, x, gradient (taken over), gradients of the weights; number = layer; id: the Saved
//   layer_loss: tensor = logits (taken over), targets, loss; number = tokens; reply: the gradient
//   layer_update: tensor = weights, gradient, m, v, factor (may be none); number = layer, step (from 1)
//   drop_saved: id
#include "front/handlers.h"

#include <fmt/format.h>

#include <utility>

#include "api/access.h"
#include "base/text.h"
#include "front/model/checks.h"
#include "front/model/layers.h"
#include "front/model/saved_table.h"

namespace shardlings::front {
namespace {

using detail::Access;
using detail::Call;
using detail::Reply;
using model::LayerPlan;

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

View view(RankFront& front, const Call& call, int i) {
  return Access::view(&front, call.tensor[i]);
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

std::int32_t layer_of(const Call& call) {
  return static_cast<std::int32_t>(call.number[0]);
}

Reply forward(RankFront& front, const Call& call) {
  const LayerPlan& plan = checked_layer(front, call, call.number[0]);
  const Operand weights = front.reading(call, 0);
  check_weights(front, call, call.number[0], weights, "weights");
  const Operand x = front.reading(call, 1);
  check_input(front, call, call.number[0], x);
  check_types(front, call, call.number[0], weights, x);
  const Label label{x.label.micro, layer_of(call)};
  const bool saving = call.number[1] != 0;

  const LayerArguments layer{plan,
                             {plan, view(front, call, 0), call.at},
                             Access::labelled(view(front, call, 1), label.micro),
                             call.at,
                             model_of(call).tp};
  std::vector<Tensor> saved;
  Tensor y = as_one_call(front, call, EventKind::forward, label,
                         [&] { return layer_forward(layer, saving ? &saved : nullptr); });
  ++front.counters().layer_forwards;
  Reply reply;
  if (saving) {
    for (const Tensor& tensor : saved) mark(front, tensor, label);
    reply.id = front.saved().insert({std::move(saved), label, x.shape()});
  }
  reply.tensor[0] = handed_out(front, std::move(y), output_shape(plan, x.shape()), label.micro);
  return reply;
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

Reply backward(RankFront& front, const Call& call) {
  Tensor grad = Access::adopt(&front, call.tensor[2]);
  const LayerPlan& plan = checked_layer(front, call, call.number[0]);
  const Operand weights = front.reading(call, 0);
  check_weights(front, call, call.number[0], weights, "weights");
  const Operand x = front.reading(call, 1);
  check_input(front, call, call.number[0], x);
  check_types(front, call, call.number[0], weights, x);
  check_grad(front, call, call.number[0], x, front.reading(call, 2));
  check_weights(front, call, call.number[0], front.writing(call, 3), "gradients of the weights");
  check_grad_types(front, call, call.number[0], weights, front.reading(call, 2), front.writing(call, 3));
  const Label label{x.label.micro, layer_of(call)};
  SavedEntry entry = take_saved(front, call, x, label);
  front.label_whole(front.writing(call, 3), {-1, label.layer});

  const LayerArguments layer{plan,
                             {plan, view(front, call, 0), call.at},
                             Access::labelled(view(front, call, 1), label.micro),
                             call.at,
                             model_of(call).tp};
  const Entries<View> grads(plan, view(front, call, 3), call.at);
  Tensor grad_x = as_one_call(front, call, EventKind::backward, label,
                              [&] { return layer_backward(layer, std::move(entry.tensors), std::move(grad), grads); });
  ++front.counters().layer_backwards;
  Reply reply;
  reply.tensor[0] = handed_out(front, std::move(grad_x), x.shape(), label.micro);
  return reply;
}

Reply loss(RankFront& front, const Call& call) {
  Tensor logits = Access::adopt(&front, call.tensor[0]);
  const Operand found = front.writing(call, 0);
  check_loss(front, call, found, front.reading(call, 1), front.writing(call, 2));
  const Label label{found.label.micro, -1};
  const auto& [plan, tp] = model_of(call);
  Tensor grad = as_one_call(front, call, EventKind::loss, label, [&] {
    if (tp.size() > 1) {
      return divided_loss(tp, {plan.layers.back().vocabulary, plan.spec.outputs}, std::move(logits),
                          view(front, call, 1), call.number[0], view(front, call, 2), call.at);
    }
    return cross_entropy(std::move(logits), view(front, call, 1), call.number[0], view(front, call, 2), call.at);
  });
  Reply reply;
  reply.tensor[0] = handed_out(front, std::move(grad), found.shape(), label.micro);
  return reply;
}

Reply update(RankFront& front, const Call& call) {
  check_update(front, call, call.number[0]);
  const model::ModelSpec& spec = model_of(call).plan.spec;
  as_one_call(front, call, EventKind::update, {-1, layer_of(call)}, [&]() -> Tensor {
    if (spec.optimizer == model::ModelSpec::Optimizer::sgd) {
      sgd(view(front, call, 0), view(front, call, 1), spec.lr, view(front, call, 4), call.at);
    } else {
      AdamStep step;
      step.lr = spec.lr;
      step.eps = spec.eps;
      step.step = static_cast<int>(call.number[1]);
      adam(view(front, call, 0), view(front, call, 1), view(front, call, 2), view(front, call, 3), step,
           view(front, call, 4), {}, call.at);
    }
    return {};
  });
  return {};
}

Reply drop_saved(RankFront& front, const Call& call) {
  front.saved().take(call.id);
  return {};
}

}  // namespace

void add_model_handlers(HandlerTable& table) {
  const auto set = [&](detail::Verb verb, Handler handler) { table[static_cast<std::size_t>(verb)] = handler; };
  set(detail::Verb::layer_forward, forward);
  set(detail::Verb::layer_backward, backward);
  set(detail::Verb::layer_loss, loss);
  set(detail::Verb::layer_update, update);
  set(detail::Verb::drop_saved, drop_saved);
}

}  // namespace shardlings::front

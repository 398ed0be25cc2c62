// Losses.
#include "front/ops/op.h"
#include "model/operation_flops.h"

namespace shardlings::front {

using back::KernelId;
using detail::Call;
using detail::Reply;

namespace {

void check_loss(Op& op, const Operand& loss, Count tokens) {
  op.has_type(loss, "loss", DType::f32);
  op.require(loss.size() >= 1, "loss has no element");
  op.require(tokens > 0, "the loss is divided by {} tokens, but must be by at least 1", tokens);
}

}  // namespace

Reply handle::cross_entropy(OpContext& of, const Call& call) {
  const unpacked::cross_entropy given(call);
  Op op(of, call);
  const Operand& logits = op.writes(given.logits);
  const Operand& targets = op.reads(given.targets);
  const Operand& loss = op.writes(given.loss);
  op.computes_on(logits, "logits");
  op.has_type(targets, "targets", DType::i32);
  op.has_size(targets, "targets", logits.rows(), "row of logits");
  check_loss(op, loss, given.tokens);
  op.returns_argument(logits);
  if (logits.size() > 0) op.launch(KernelId::cross_entropy, {logits.rows(), logits.cols(), given.tokens});
  return op.finish(model::kLossFlops * logits.size());
}

Reply handle::loss_add(OpContext& of, const Call& call) {
  const unpacked::loss_add given(call);
  Op op(of, call);
  const Operand& loss = op.writes(given.loss);
  const Operand& sum = op.reads(given.sum);
  const Operand& hit = op.reads(given.hit);
  const Operand& top = op.reads(given.top);
  const Operand& targets = op.reads(given.targets);
  op.computes_on(sum, "sum");
  op.same_type(sum, "sum", hit, "hit");
  op.same_type(sum, "sum", top, "top");
  op.same_size(sum, "sum", hit, "hit");
  op.same_size(sum, "sum", top, "top");
  op.has_type(targets, "targets", DType::i32);
  op.same_size(sum, "sum", targets, "targets");
  op.no_aliases();
  check_loss(op, loss, given.tokens);
  return op.run(KernelId::loss_add, {sum.size(), given.tokens}, 11 * sum.size());
}

}  // namespace shardlings::front

// Losses. tensor[]: cross_entropy: logits, targets, loss; loss_add: loss, sum, hit, top, targets; number[0]: tokens.
#include "front/ops/op.h"

namespace shardlings::front {
namespace {

using back::KernelId;
using detail::Call;
using detail::Reply;
using detail::Verb;

void check_loss(Op& op, const Operand& loss) {
  op.has_type(loss, "loss", DType::f32);
  op.require(loss.size() >= 1, "loss has no element");
  op.require(op.call().number[0] > 0, "the loss is divided by {} tokens, but must be by at least 1",
             op.call().number[0]);
}

Reply cross_entropy(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand logits = op.writes(0, "logits");
  const Operand targets = op.reads(1, "targets");
  const Operand loss = op.writes(2, "loss");
  op.computes_on(logits, "logits");
  op.has_type(targets, "targets", DType::i32);
  op.has_size(targets, "targets", logits.rows(), "row of logits");
  check_loss(op, loss);
  op.returns_argument(logits);
  return op.run(KernelId::cross_entropy, {logits.rows(), logits.cols(), call.number[0]}, 12 * logits.size());
}

Reply loss_add(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand loss = op.writes(0, "loss");
  const Operand sum = op.reads(1, "sum");
  const Operand hit = op.reads(2, "hit");
  const Operand top = op.reads(3, "top");
  const Operand targets = op.reads(4, "targets");
  op.computes_on(sum, "sum");
  op.same_type(sum, "sum", hit, "hit");
  op.same_type(sum, "sum", top, "top");
  op.same_size(sum, "sum", hit, "hit");
  op.same_size(sum, "sum", top, "top");
  op.has_type(targets, "targets", DType::i32);
  op.same_size(sum, "sum", targets, "targets");
  op.no_aliases();
  check_loss(op, loss);
  return op.run(KernelId::loss_add, {sum.size(), call.number[0]}, 11 * sum.size());
}

}  // namespace

void add_loss_handlers(HandlerTable& table) {
  const auto set = [&](Verb verb, Handler handler) { table[static_cast<std::size_t>(verb)] = handler; };
  set(Verb::cross_entropy, cross_entropy);
  set(Verb::loss_add, loss_add);
}

}  // namespace shardlings::front

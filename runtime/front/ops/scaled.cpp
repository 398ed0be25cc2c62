// Numbers in 8 bits with a scale for each block of them.
#include "base/dtype.h"
#include "front/ops/op.h"
#include "model/operation_flops.h"
#include "shardlings/ops.h"

namespace shardlings::front {

using back::KernelId;
using detail::Call;
using detail::Reply;

namespace {

/// Elements [first, first + x.size()) of a whole: their blocks have scales.
void is_scaled(Op& op, const Operand& x, const char* what, const Operand& scales, Count first) {
  op.has_type(scales, "scales", DType::e8m0);
  op.require(first >= 0, "the first element's number is {}, but must not be negative", first);
  op.require(scaling_blocks(first + x.size()) <= scales.size() || x.size() == 0,
             "{} has elements {} to {}, which reach into {} blocks of {}, but there are {} scales", what, first,
             first + x.size() - 1, scaling_blocks(first + x.size()), kScalingBlock, scales.size());
}

/// How many blocks n elements from `first` on have a share of.
Count blocks_touched(Count n, Count first) {
  return n == 0 ? 0 : scaling_blocks(first + n) - first / kScalingBlock;
}

}  // namespace

Reply handle::block_scales(OpContext& of, const Call& call) {
  const unpacked::block_scales given(call);
  Op op(of, call);
  const Operand& scales = op.overwrites(given.scales);
  const Operand& x = op.reads(given.x);
  op.computes_on(x, "x");
  is_scaled(op, x, "x", scales, given.first);
  return op.run(KernelId::block_scales, {x.size(), given.first, scales.size()}, model::kScaleFlops * x.size());
}

Reply handle::quantize(OpContext& of, const Call& call) {
  const unpacked::quantize given(call);
  Op op(of, call);
  const Operand& y = op.overwrites(given.y);
  const Operand& x = op.reads(given.x);
  const Operand& scales = op.reads(given.scales);
  op.computes_on(x, "x");
  op.has_type(y, "y", DType::e4m3);
  op.same_size(y, "y", x, "x");
  is_scaled(op, x, "x", scales, given.first);
  op.touches_only(scales, blocks_touched(x.size(), given.first));
  return op.run(KernelId::quantize, {x.size(), given.first}, model::kScaleFlops * x.size());
}

Reply handle::dequantize(OpContext& of, const Call& call) {
  const unpacked::dequantize given(call);
  Op op(of, call);
  const Operand& y = op.overwrites(given.y);
  const Operand& codes = op.reads(given.codes);
  const Operand& scales = op.reads(given.scales);
  op.computes_on(y, "y");
  op.has_type(codes, "codes", DType::e4m3);
  op.same_size(y, "y", codes, "codes");
  is_scaled(op, codes, "codes", scales, given.first);
  op.touches_only(scales, blocks_touched(codes.size(), given.first));
  return op.run(KernelId::dequantize, {codes.size(), given.first}, model::kScaleFlops * codes.size());
}

}  // namespace shardlings::front

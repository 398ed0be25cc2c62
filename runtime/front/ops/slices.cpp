// Columns and rows taken out of a tensor, or put together to one.
#include "base/dtype.h"
#include "base/extents.h"
#include "front/ops/op.h"

namespace shardlings::front {

using back::KernelId;
using detail::Call;
using detail::Reply;

namespace {

struct Parts {
  Operand part[detail::kMaxTensors];
  int count = 0;
  Count rows = 0;  // of all of them
  Count cols = 0;
};

Parts read_parts(Op& op) {
  Parts parts;
  parts.count = op.call().num_tensors;
  op.require(parts.count > 0, "there is no part");
  for (int i = 0; i < parts.count; ++i) {
    parts.part[i] = op.part(i);
    op.same_type(parts.part[0], "the first part", parts.part[i], "another one");
    parts.rows += parts.part[i].rows();
    parts.cols += parts.part[i].cols();
  }
  return parts;
}

/// The next launch copies from x to y, so many bytes into it.
void point_at(Op& op, const Operand& x, const Operand& y, Count offset) {
  op.kernel().in[0] = x.data;
  op.kernel().out[0] = static_cast<char*>(y.data) + offset;
}

/// The first part's extents but for the first one, if all parts share them; otherwise a matrix.
Shape shape_of_rows(const Parts& parts) {
  const Shape& first = parts.part[0].shape();
  Count outer = 0;
  for (int i = 0; i < parts.count; ++i) {
    const Shape& shape = parts.part[i].shape();
    bool alike = shape.rank() == first.rank() && first.rank() > 1;
    for (int d = 1; alike && d < first.rank(); ++d) alike = shape[d] == first[d];
    if (!alike) return {parts.rows, parts.part[0].cols()};
    outer += shape[0];
  }
  return with_extent(first, 0, outer);
}

}  // namespace

Reply handle::slice_cols(OpContext& of, const Call& call) {
  const unpacked::slice_cols given(call);
  Op op(of, call);
  const Operand& x = op.reads(given.x);
  const Range range = given.columns;
  op.require(0 <= range.begin && range.begin <= range.end && range.end <= x.cols(),
             "columns [{}, {}) are not inside x, which is {}", range.begin, range.end, x.shape());
  op.returns(with_cols(x.shape(), range.size()), x.dtype());
  const Count unit = size_of(x.dtype());
  op.touches_only(x, x.rows() * range.size());
  op.kernel().in[0] = static_cast<const char*>(x.data) + range.begin * unit;
  return op.run(KernelId::copy_rows, {x.rows(), range.size() * unit, range.size() * unit, x.cols() * unit}, 0);
}

Reply handle::concat_cols(OpContext& of, const Call& call) {
  Op op(of, call);
  const Parts parts = read_parts(op);
  const Operand& first = parts.part[0];
  for (int i = 1; i < parts.count; ++i) {
    op.require(parts.part[i].rows() == first.rows(),
               "part 1 is {}, part {} is {}: the numbers of rows {} and {} differ", first.shape(), i + 1,
               parts.part[i].shape(), first.rows(), parts.part[i].rows());
  }
  const Operand& y = op.returns(with_cols(first.shape(), parts.cols), first.dtype());
  const Count unit = size_of(first.dtype());
  Count offset = 0;
  for (int i = 0; i < parts.count; ++i) {
    const Count width = parts.part[i].cols() * unit;
    point_at(op, parts.part[i], y, offset);
    op.launch(KernelId::copy_rows, {first.rows(), width, parts.cols * unit, width});
    offset += width;
  }
  return op.finish(0);
}

Reply handle::concat_rows(OpContext& of, const Call& call) {
  Op op(of, call);
  const Parts parts = read_parts(op);
  const Operand& first = parts.part[0];
  for (int i = 1; i < parts.count; ++i) {
    op.require(parts.part[i].cols() == first.cols(),
               "part 1 is {}, part {} is {}: the numbers of columns {} and {} differ", first.shape(), i + 1,
               parts.part[i].shape(), first.cols(), parts.part[i].cols());
  }
  const Operand& y = op.returns(shape_of_rows(parts), first.dtype());
  Count offset = 0;
  for (int i = 0; i < parts.count; ++i) {
    const Count size = parts.part[i].bytes().value();
    point_at(op, parts.part[i], y, offset);
    op.launch(KernelId::copy, {size});
    offset += size;
  }
  return op.finish(0);
}

}  // namespace shardlings::front

#include "shardlings/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/request.h"
#include "base/extents.h"
#include "base/text.h"

namespace shardlings {
namespace {

using detail::Ref;
using detail::throw_invalid;

/// Somebody who writes {begin, size} for {begin, end} mostly gets a range that ends before it begins.
const char* why_outside(Range range, const Shape& shape) {
  if (range.end < range.begin) return "; a range is {begin, end}, and this one ends before it begins";
  return shape.size() == 0 ? ": it is empty here, moved away, never made, or something that only other ranks have" : "";
}

Ref part_of(const Ref& ref, Range range, Location at) {
  if (range.begin < 0 || range.end < range.begin || range.end > ref.shape.size()) {
    throw_invalid(fmt::format("part [{}, {}) leaves a view of {} elements{}", range.begin, range.end, ref.shape.size(),
                              why_outside(range, ref.shape)),
                  at);
  }
  Ref part = ref;
  part.offset += range.begin;
  part.shape = Shape(range.size());
  return part;
}

Ref rows_of(const Ref& ref, Range range, Location at) {
  const Shape& shape = ref.shape;
  if (shape.rank() == 0 || range.begin < 0 || range.end < range.begin || range.end > shape[0]) {
    throw_invalid(fmt::format("rows [{}, {}) leave a view of shape {}{}", range.begin, range.end, to_text(shape),
                              why_outside(range, shape)),
                  at);
  }
  const Count row = shape[0] == 0 ? 0 : shape.size() / shape[0];
  Ref rows = ref;
  rows.offset += range.begin * row;
  rows.shape = with_extent(shape, 0, range.size());
  return rows;
}

Ref reshaped_to(const Ref& ref, Shape shape, Location at) {
  if (!is_possible(shape)) {
    throw_invalid(fmt::format("a view of {} elements cannot have the shape {}", ref.shape.size(), to_text(shape)), at);
  }
  if (shape.size() != ref.shape.size()) {
    throw_invalid(fmt::format("{} elements of shape {} do not make the shape {}", ref.shape.size(), to_text(ref.shape),
                              to_text(shape)),
                  at);
  }
  Ref other = ref;
  other.shape = shape;
  return other;
}

}  // namespace

void Shape::throw_too_many(std::initializer_list<Count> dims, Location at) {
  throw_invalid(
      fmt::format("the shape ({}) has {} extents, and there may be at most {}: multiply some of them into one",
                  fmt::join(dims, ", "), dims.size(), kMaxDims),
      at);
}

using detail::Access;

ConstView ConstView::part(Range range, Location at) const {
  return Access::view(port_, part_of(ref_, range, at));
}
ConstView ConstView::rows_part(Range range, Location at) const {
  return Access::view(port_, rows_of(ref_, range, at));
}
ConstView ConstView::reshaped(Shape shape, Location at) const {
  return Access::view(port_, reshaped_to(ref_, shape, at));
}
View View::part(Range range, Location at) const {
  return Access::view(port_, part_of(ref_, range, at));
}
View View::rows_part(Range range, Location at) const {
  return Access::view(port_, rows_of(ref_, range, at));
}
View View::reshaped(Shape shape, Location at) const {
  return Access::view(port_, reshaped_to(ref_, shape, at));
}

Tensor::Tensor(Tensor&& other) noexcept : view_(other.view_) {
  other.view_ = View();
}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  if (this == &other) return *this;
  const View old = view_;
  view_ = other.view_;
  other.view_ = View();
  if (old) detail::Request(detail::args::drop{.tensor = old}, Location{}).release();  // after the new one has arrived
  return *this;
}

Tensor::~Tensor() {
  if (view_) detail::Request(detail::args::drop{.tensor = view_}, Location{}).release();
}

}  // namespace shardlings

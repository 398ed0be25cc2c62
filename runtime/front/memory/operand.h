/// \file
/// A tensor argument or result, looked up and checked.
#pragma once

#include "api/call.h"
#include "base/dtype.h"
#include "front/memory/storage.h"

namespace shardlings::front {

struct Operand {
  void* data = nullptr;
  detail::Ref ref;
  Kind kind = Kind::other;
  Memory memory = Memory::device;
  Label label;  ///< of the view if it has one, else of its storage

  const Shape& shape() const { return ref.shape; }
  Count size() const { return ref.shape.size(); }
  Count rows() const { return ref.shape.rows(); }
  Count cols() const { return ref.shape.cols(); }
  DType dtype() const { return ref.dtype; }
  Bytes bytes() const { return bytes_of(size(), ref.dtype); }
  explicit operator bool() const { return ref.storage != 0; }
};

/// The elements of an operand's storage that it covers.
inline Range range_of(const Operand& x) {
  return {x.ref.offset, x.ref.offset + x.size()};
}

/// Whether the two share an element.
inline bool overlap(const Operand& a, const Operand& b) {
  return a && b && a.ref.storage == b.ref.storage && intersect(range_of(a), range_of(b)).size() > 0;
}

}  // namespace shardlings::front

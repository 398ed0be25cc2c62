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
  Label label;         ///< of the view if it has one, else of its storage
  Count elements = 0;  ///< ref.shape.size(), which is asked for many times in each operation

  const Shape& shape() const { return ref.shape; }
  Count size() const { return elements; }
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

/// Where an operand lies, alone.
struct Stretch {
  std::uint32_t storage = 0;  ///< 0: it is empty
  Range range;
};
inline Stretch stretch_of(const Operand& x) {
  return {x.ref.storage, range_of(x)};
}

/// Whether the two share an element.
inline bool overlap(const Stretch& a, const Stretch& b) {
  return a.storage != 0 && a.storage == b.storage && intersect(a.range, b.range).size() > 0;
}
inline bool overlap(const Operand& a, const Operand& b) {
  return a.ref.storage == b.ref.storage && overlap(stretch_of(a), stretch_of(b));  // mostly they differ
}

}  // namespace shardlings::front

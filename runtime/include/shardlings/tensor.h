/// \file
/// Tensors in the device memory of one rank, and views of them.
///
/// A Tensor owns its memory: creating one allocates, dropping it frees, and the rank's counters see both. Tensors of
/// the host's memory (host.h) are the same in all this. A View borrows a contiguous stretch of a tensor. Using a view
/// whose tensor is gone is an error, not a crash.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "shardlings/export.h"
#include "shardlings/location.h"

namespace shardlings {

/// A number of elements, or the position of one.
using Count = std::int64_t;

/// Element types. Arithmetic is done in f32; bf16 is a storage type; i32 holds token ids and exact integers.
enum class DType : std::uint8_t { f32, bf16, i32 };

/// What an allocation is for. Kinds explain a peak; budgets look at the total.
enum class Kind : std::uint8_t { parameter, gradient, optimizer, activation, buffer, other };

/// A half-open range of elements [begin, end).
struct Range {
  Count begin = 0;
  Count end = 0;
  constexpr Count size() const { return end - begin; }
  constexpr bool operator==(const Range&) const = default;
};

/// The elements that both ranges have; empty (size 0) if there are none.
constexpr Range intersect(Range a, Range b) {
  const Count begin = a.begin > b.begin ? a.begin : b.begin;
  const Count end = a.end < b.end ? a.end : b.end;
  return {begin, end > begin ? end : begin};
}

/// Up to four extents, slowest first. Activations are (s, b, h), weights (out, in).
class Shape {
 public:
  static constexpr int kMaxDims = 4;

  constexpr Shape() = default;
  constexpr Shape(Count n) : dims_{n}, rank_(1) {}  // NOLINT: a count is a one-dimensional shape
  constexpr Shape(std::initializer_list<Count> dims) {
    for (Count d : dims) {
      if (rank_ < kMaxDims) dims_[rank_++] = d;
    }
  }

  constexpr int rank() const { return rank_; }
  constexpr Count operator[](int i) const { return dims_[i]; }
  /// Number of elements.
  constexpr Count size() const {
    Count n = 1;
    for (int i = 0; i < rank_; ++i) n *= dims_[i];
    return rank_ == 0 ? 0 : n;
  }
  /// Extent of the fastest dimension; 1 for an empty shape.
  constexpr Count cols() const { return rank_ == 0 ? 1 : dims_[rank_ - 1]; }
  /// Product of all other extents: the shape seen as a matrix of rows() x cols().
  constexpr Count rows() const {
    Count n = rank_ == 0 ? 0 : 1;
    for (int i = 0; i + 1 < rank_; ++i) n *= dims_[i];
    return n;
  }
  constexpr bool operator==(const Shape&) const = default;

 private:
  Count dims_[kMaxDims] = {0, 0, 0, 0};
  int rank_ = 0;
};

namespace detail {

class Port;

/// Names a stretch of one storage across the cut between learner and runtime: numbers only, never an address.
struct Ref {
  std::uint32_t storage = 0;     ///< 0: nothing
  std::uint32_t generation = 0;  ///< of the storage's slot; a stale one is an error
  Count offset = 0;              ///< first element
  Shape shape;
  DType dtype = DType::f32;
  std::int32_t micro = -1;  ///< micro-batch that the data belong to; -1: that of the storage
};

struct Access;

}  // namespace detail

/// Borrows a contiguous stretch of a tensor, for reading.
class SHARDLINGS_API ConstView {
 public:
  ConstView() = default;

  Count size() const { return ref_.shape.size(); }
  const Shape& shape() const { return ref_.shape; }
  Count rows() const { return ref_.shape.rows(); }
  Count cols() const { return ref_.shape.cols(); }
  DType dtype() const { return ref_.dtype; }
  explicit operator bool() const { return ref_.storage != 0; }

  /// Elements [range.begin, range.end) of this view, as a one-dimensional view.
  /// Throws InvalidArgument if the range leaves the view.
  ConstView part(Range range, Location at = Location::current()) const;
  /// Rows [range.begin, range.end) of the first dimension; the other extents stay.
  ConstView rows_part(Range range, Location at = Location::current()) const;
  /// The same elements with another shape of the same size.
  ConstView reshaped(Shape shape, Location at = Location::current()) const;

 protected:
  friend struct detail::Access;
  detail::Port* port_ = nullptr;
  detail::Ref ref_;
};

/// Borrows a contiguous stretch of a tensor, for reading and writing.
class SHARDLINGS_API View : public ConstView {
 public:
  View() = default;
  /// As in ConstView, but writable.
  View part(Range range, Location at = Location::current()) const;
  View rows_part(Range range, Location at = Location::current()) const;
  View reshaped(Shape shape, Location at = Location::current()) const;
};

/// Owns device memory of one rank. Move-only; `t = {}` frees at once.
class SHARDLINGS_API Tensor {
 public:
  Tensor() = default;
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept;
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  /// Frees. Dropping a tensor that is still in flight is a race, reported at the rank's next call.
  ~Tensor();

  explicit operator bool() const { return static_cast<bool>(view_); }
  Count size() const { return view_.size(); }
  const Shape& shape() const { return view_.shape(); }
  Count rows() const { return view_.rows(); }
  Count cols() const { return view_.cols(); }
  DType dtype() const { return view_.dtype(); }

  View part(Range range, Location at = Location::current()) { return view_.part(range, at); }
  ConstView part(Range range, Location at = Location::current()) const { return view_.part(range, at); }
  View rows_part(Range range, Location at = Location::current()) { return view_.rows_part(range, at); }
  ConstView rows_part(Range range, Location at = Location::current()) const { return view_.rows_part(range, at); }
  View reshaped(Shape shape, Location at = Location::current()) { return view_.reshaped(shape, at); }
  ConstView reshaped(Shape shape, Location at = Location::current()) const { return view_.reshaped(shape, at); }

  operator View() { return view_; }             // NOLINT: a tensor is its whole view
  operator ConstView() { return view_; }        // NOLINT: or the compiler warns of having chosen between the two others
  operator ConstView() const { return view_; }  // NOLINT

 private:
  friend struct detail::Access;
  View view_;
};

}  // namespace shardlings

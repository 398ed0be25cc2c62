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
/// e4m3 and e8m0 take one byte: numbers in 8 bits, and the scales of their blocks (see quantize() in ops.h). They are
/// copied, gathered and sent as any other, but not computed with.
enum class DType : std::uint8_t { f32, bf16, i32, e4m3, e8m0 };

/// What an allocation is for. Kinds explain a peak; budgets look at the total.
enum class Kind : std::uint8_t { parameter, gradient, optimizer, activation, buffer, other };

/// A half-open range of elements [begin, end).
struct Range {
  Count begin = 0;  ///< the first one
  Count end = 0;    ///< one behind the last one
  /// How many there are.
  constexpr Count size() const { return end - begin; }
  /// The same elements.
  constexpr bool operator==(const Range&) const = default;
};

/// The elements that both ranges have; empty (size 0) if there are none.
constexpr Range intersect(Range a, Range b) {
  const Count begin = a.begin > b.begin ? a.begin : b.begin;
  const Count end = a.end < b.end ? a.end : b.end;
  return {begin, end > begin ? end : begin};
}

namespace detail {

/// a times b, or the largest Count where that is too small for it: a product that wrapped round would look like the
/// number of elements of another shape.
constexpr Count bounded_times(Count a, Count b) {
  Count product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

}  // namespace detail

/// Up to four extents, slowest first. Activations are (s, b, h), weights (out, in).
class Shape {
 public:
  static constexpr int kMaxDims = 4;  ///< how many extents there may be

  /// No extent and no element.
  constexpr Shape() = default;
  /// One extent: n elements in a row.
  constexpr Shape(Count n) : dims_{n}, rank_(1) {}  // NOLINT: a count is a one-dimensional shape
  /// Extents, slowest first. throws: InvalidArgument if there are more than kMaxDims.
  constexpr Shape(std::initializer_list<Count> dims, Location at = Location::current()) {
    if (dims.size() > kMaxDims) throw_too_many(dims, at);
    for (Count d : dims) dims_[rank_++] = d;
  }

  /// How many extents there are.
  constexpr int rank() const { return rank_; }
  /// Extent i, 0 to rank()-1.
  constexpr Count operator[](int i) const { return dims_[i]; }
  /// Number of elements; 0 for an empty shape. One that does not fit into a Count is the largest Count instead: no
  /// tensor has so many.
  constexpr Count size() const {
    Count n = rank_ == 0 ? 0 : 1;
    for (int i = 0; i < rank_; ++i) n = detail::bounded_times(n, dims_[i]);
    return n;
  }
  /// Extent of the fastest dimension; 1 for an empty shape.
  constexpr Count cols() const { return rank_ == 0 ? 1 : dims_[rank_ - 1]; }
  /// Product of all other extents, bounded as size(): the shape seen as a matrix of rows() x cols().
  constexpr Count rows() const {
    Count n = rank_ == 0 ? 0 : 1;
    for (int i = 0; i + 1 < rank_; ++i) n = detail::bounded_times(n, dims_[i]);
    return n;
  }
  /// The same extents: {6} is not {2, 3}.
  constexpr bool operator==(const Shape&) const = default;

 private:
  [[noreturn]] SHARDLINGS_API static void throw_too_many(std::initializer_list<Count> dims, Location at);

  Count dims_[kMaxDims] = {0, 0, 0, 0};
  std::int8_t rank_ = 0;
};

namespace detail {

class Port;

/// Names a stretch of one storage across the cut between learner and runtime: numbers only, never an address.
struct Ref {
  std::uint32_t storage = 0;     ///< 0: nothing
  std::uint32_t generation = 0;  ///< of the storage's slot; a stale one is an error
  Count offset = 0;              ///< first element
  /// What follows lies in its last, unused bytes: a rank has hundreds of tensors, most of them empty, and a simulation
  /// thousands of ranks.
  [[no_unique_address]] Shape shape;
  DType dtype = DType::f32;
  std::int32_t micro = -1;  ///< micro-batch that the data belong to; -1: that of the storage
};

struct Access;

}  // namespace detail

/// Borrows a contiguous stretch of a tensor, for reading.
class SHARDLINGS_API ConstView {
 public:
  /// A view of nothing.
  ConstView() = default;

  /// Number of elements.
  Count size() const { return ref_.shape.size(); }
  /// Its extents.
  const Shape& shape() const { return ref_.shape; }
  /// Shape::rows().
  Count rows() const { return ref_.shape.rows(); }
  /// Shape::cols().
  Count cols() const { return ref_.shape.cols(); }
  /// Type of the elements.
  DType dtype() const { return ref_.dtype; }
  /// It was made of a tensor, which may be gone by now.
  explicit operator bool() const { return ref_.storage != 0; }

  /// Elements [range.begin, range.end) of this view, as a one-dimensional view.
  /// throws: InvalidArgument if the range leaves the view.
  ConstView part(Range range, Location at = Location::current()) const;
  /// Rows [range.begin, range.end) of the first dimension; the other extents stay.
  /// throws: InvalidArgument if the range leaves the view.
  ConstView rows_part(Range range, Location at = Location::current()) const;
  /// The same elements with another shape. throws: InvalidArgument if it has another size, or a negative extent.
  ConstView reshaped(Shape shape, Location at = Location::current()) const;

 protected:
  /// \cond
  friend struct detail::Access;
  detail::Port* port_ = nullptr;
  detail::Ref ref_;
  /// \endcond
};

/// Borrows a contiguous stretch of a tensor, for reading and writing.
class SHARDLINGS_API View : public ConstView {
 public:
  /// A view of nothing.
  View() = default;
  /// ConstView::part(), writable.
  View part(Range range, Location at = Location::current()) const;
  /// ConstView::rows_part(), writable.
  View rows_part(Range range, Location at = Location::current()) const;
  /// ConstView::reshaped(), writable.
  View reshaped(Shape shape, Location at = Location::current()) const;
};

/// Owns device memory of one rank. Move-only; `t = {}` frees at once.
class SHARDLINGS_API Tensor {
 public:
  /// Owns nothing.
  Tensor() = default;
  /// `other` owns nothing afterwards.
  Tensor(Tensor&& other) noexcept;
  /// Frees what was there; `other` owns nothing afterwards.
  Tensor& operator=(Tensor&& other) noexcept;
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  /// Frees. Dropping a tensor that is still in flight is a race, reported at the rank's next call.
  ~Tensor();

  /// It owns memory: it was not default-constructed, moved from or used up.
  explicit operator bool() const { return static_cast<bool>(view_); }

  /// \name As in ConstView and View
  /// @{
  Count size() const { return view_.size(); }           ///< number of elements
  const Shape& shape() const { return view_.shape(); }  ///< its extents
  Count rows() const { return view_.rows(); }           ///< Shape::rows()
  Count cols() const { return view_.cols(); }           ///< Shape::cols()
  DType dtype() const { return view_.dtype(); }         ///< type of the elements

  /// Elements of the range, as a one-dimensional view. throws: InvalidArgument if the range leaves the tensor.
  View part(Range range, Location at = Location::current()) { return view_.part(range, at); }
  /// Likewise, for reading.
  ConstView part(Range range, Location at = Location::current()) const { return view_.part(range, at); }
  /// Rows of the first dimension. throws: InvalidArgument if the range leaves the tensor.
  View rows_part(Range range, Location at = Location::current()) { return view_.rows_part(range, at); }
  /// Likewise, for reading.
  ConstView rows_part(Range range, Location at = Location::current()) const { return view_.rows_part(range, at); }
  /// The same elements with another shape. throws: InvalidArgument if it has another size.
  View reshaped(Shape shape, Location at = Location::current()) { return view_.reshaped(shape, at); }
  /// Likewise, for reading.
  ConstView reshaped(Shape shape, Location at = Location::current()) const { return view_.reshaped(shape, at); }
  /// @}

  /// \name The whole of it, where a view is asked for
  /// @{

  /// To write.
  operator View() { return view_; }  // NOLINT: a tensor is its whole view
  /// To read; without it the compiler warns of having chosen between the two others.
  operator ConstView() { return view_; }  // NOLINT
  /// To read.
  operator ConstView() const {
    return view_;
  }  // NOLINT
     /// @}

 private:
  friend struct detail::Access;
  View view_;
};

}  // namespace shardlings

/// \file
/// A list that lies where it stands: no memory is fetched, and what was not added costs nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace shardlings {

/// Up to `most` values.
template <class T, std::size_t most>
requires(std::is_trivially_destructible_v<T>&& std::is_trivially_copyable_v<T>) class InlineList {
 public:
  /// There must be room.
  T& add(const T& value) { return *std::construct_at(begin() + size_++, value); }
  /// The same of what `make` returns, which is made where it will lie.
  template <class Make>
  T& add_made(Make&& make) {
    T* made = ::new (static_cast<void*>(bytes_ + size_ * sizeof(T))) T(make());
    ++size_;
    return *made;
  }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return begin()[i]; }
  const T& operator[](std::size_t i) const { return begin()[i]; }
  T* begin() { return std::launder(reinterpret_cast<T*>(bytes_)); }
  T* end() { return begin() + size_; }
  const T* begin() const { return std::launder(reinterpret_cast<const T*>(bytes_)); }
  const T* end() const { return begin() + size_; }

 private:
  alignas(T) std::byte bytes_[most * sizeof(T)];
  std::size_t size_ = 0;
};

}  // namespace shardlings

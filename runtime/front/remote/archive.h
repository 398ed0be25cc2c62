/// \file
/// Values as bytes, between processes that run the same program.
#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "shardlings/location.h"

namespace shardlings::front::remote {

/// The same text at an address that stays good until the process ends.
const char* lasting(std::string_view text);

/// A number that another process has said, of one of `count` things. Throws std::runtime_error if it is none.
inline int checked_index(int number, int count) {
  if (number < 0 || number >= count) throw std::runtime_error("a message names something that is not there");
  return number;
}

/// Many of them go as they lie there.
template <class T>
inline constexpr bool kPlain = std::is_arithmetic_v<T> || std::is_same_v<T, std::byte>;

class Writer {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T> Writer& operator<<(const T& value) {
    append(&value, sizeof value);
    return *this;
  }
  Writer& operator<<(const Location& at) { return *this << std::string_view(at.file) << at.line; }
  Writer& operator<<(std::string_view text) {
    *this << text.size();
    append(text.data(), text.size());
    return *this;
  }
  Writer& operator<<(const std::string& text) { return *this << std::string_view(text); }
  template <class T>
  Writer& operator<<(const std::vector<T>& values) {
    *this << values.size();
    if constexpr (kPlain<T>) {
      append(values.data(), values.size() * sizeof(T));
    } else {
      for (const T& value : values) *this << value;
    }
    return *this;
  }
  template <class K, class V>
  Writer& operator<<(const std::map<K, V>& values) {
    *this << values.size();
    for (const auto& [key, value] : values) *this << key << value;
    return *this;
  }
  template <class T>
  requires(!std::is_trivially_copyable_v<T>) Writer& operator<<(const std::optional<T>& value) {
    *this << value.has_value();
    if (value) *this << *value;
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void append(const void* from, std::size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(from), size);
  }

  std::string bytes_;
};

/// Throws std::runtime_error for bytes that end too early.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  requires std::is_trivially_copyable_v<T> Reader& operator>>(T& value) {
    std::memcpy(static_cast<void*>(&value), take(sizeof value).data(), sizeof value);
    return *this;
  }
  Reader& operator>>(Location& at) {
    at.file = lasting(text());
    return *this >> at.line;
  }
  Reader& operator>>(std::string& value) {
    value = text();
    return *this;
  }
  template <class T>
  Reader& operator>>(std::vector<T>& values) {
    const auto size = get<std::size_t>();
    if constexpr (kPlain<T>) {
      if (size > bytes_.size() / sizeof(T)) too_short();
      values.resize(size);
      const std::string_view bytes = take(size * sizeof(T));
      if (size > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    } else {
      if (size > bytes_.size()) too_short();
      values.resize(size);
      for (T& value : values) *this >> value;
    }
    return *this;
  }
  template <class K, class V>
  Reader& operator>>(std::map<K, V>& values) {
    values.clear();
    for (auto left = get<std::size_t>(); left > 0; --left) {
      K key = get<K>();
      values.emplace(std::move(key), get<V>());
    }
    return *this;
  }
  template <class T>
  requires(!std::is_trivially_copyable_v<T>) Reader& operator>>(std::optional<T>& value) {
    value.reset();
    if (get<bool>()) value = get<T>();
    return *this;
  }

  template <class T>
  T get() {
    T value{};
    *this >> value;
    return value;
  }
  std::string_view text() { return take(get<std::size_t>()); }

 private:
  [[noreturn]] static void too_short() { throw std::runtime_error("a message is shorter than what it should hold"); }
  std::string_view take(std::size_t size) {
    if (bytes_.size() < size) too_short();
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  std::string_view bytes_;
};

}  // namespace shardlings::front::remote

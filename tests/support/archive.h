/// \file
/// Values as bytes, between processes of one program image (fork without exec).
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "shardlings/location.h"

namespace shardlings::support {

/// The same text at an address that stays good until the process ends.
inline const char* lasting(const std::string& text) {
  static std::mutex lock;
  static std::set<std::string> texts;
  const std::lock_guard guard(lock);
  return texts.insert(text).first->c_str();
}

class Writer {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T> Writer& operator<<(const T& value) {
    append(&value, sizeof value);
    return *this;
  }
  Writer& operator<<(const Location& at) { return *this << std::string(at.file) << at.line; }
  Writer& operator<<(const std::string& text) {
    *this << text.size();
    append(text.data(), text.size());
    return *this;
  }
  template <class T>
  Writer& operator<<(const std::vector<T>& values) {
    *this << values.size();
    for (const T& value : values) *this << value;
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

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  void append(const void* from, std::size_t size) {
    const std::size_t end = bytes_.size();
    bytes_.resize(end + size);
    if (size > 0) std::memcpy(bytes_.data() + end, from, size);
  }

  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  requires std::is_trivially_copyable_v<T> Reader& operator>>(T& value) {
    std::memcpy(static_cast<void*>(&value), take(sizeof value), sizeof value);
    return *this;
  }
  Reader& operator>>(Location& at) {
    const auto file = get<std::string>();
    at.file = lasting(file);
    return *this >> at.line;
  }
  Reader& operator>>(std::string& text) {
    const auto size = get<std::size_t>();
    text.assign(reinterpret_cast<const char*>(take(size)), size);
    return *this;
  }
  template <class T>
  Reader& operator>>(std::vector<T>& values) {
    values.resize(get<std::size_t>());
    for (T& value : values) *this >> value;
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

 private:
  const std::byte* take(std::size_t size) {
    if (bytes_.size() - position_ < size) throw std::runtime_error("a message is shorter than what it should hold");
    const std::byte* place = bytes_.data() + position_;
    position_ += size;
    return place;
  }

  std::vector<std::byte> bytes_;
  std::size_t position_ = 0;
};

}  // namespace shardlings::support

/// \file
/// Plain values one after another in a string of bytes, in the machine's own order: for files between processes of one
/// machine. Reading trusts nothing: every length is checked against what is there.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace shardlings {

/// The bytes are not what a Packer wrote.
struct BadPack : std::runtime_error {
  BadPack() : std::runtime_error("the packed data are damaged") {}
};

class Packer {
 public:
  template <class T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>, "no structs: they have holes");
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view text) {
    put<std::uint64_t>(text.size());
    bytes_.append(text);
  }
  void block(const void* data, std::size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(data), size);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    static_assert(std::is_arithmetic_v<T>, "check the range of enumerators with choice()");
    T value;
    block(&value, sizeof value);
    return value;
  }
  bool flag() { return get<std::uint8_t>() != 0; }
  /// An enumerator below `count`.
  template <class Enum>
  Enum choice(std::underlying_type_t<Enum> count) {
    const auto value = get<std::underlying_type_t<Enum>>();
    if (value >= count) throw BadPack();
    return static_cast<Enum>(value);
  }
  std::string text() {
    const std::size_t size = count(1);
    std::string text(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return text;
  }
  /// A number of items that take at least `item_bytes` each: no more of them than bytes are left.
  std::size_t count(std::size_t item_bytes) {
    const auto value = get<std::uint64_t>();
    if (value > bytes_.size() / item_bytes) throw BadPack();
    return static_cast<std::size_t>(value);
  }
  void block(void* data, std::size_t size) {
    if (size > bytes_.size()) throw BadPack();
    if (size > 0) std::memcpy(data, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }
  std::size_t left() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
};

}  // namespace shardlings

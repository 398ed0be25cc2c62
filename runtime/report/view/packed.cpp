#include "report/view/packed.h"

#include <zlib.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>

namespace shardlings::report {
namespace {

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

void append(std::uint64_t value, std::string& bytes) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(0x80 | (value & 0x7F)));
  bytes.push_back(static_cast<char>(value));
}

}  // namespace

void PackedColumns::add(std::string name, const std::vector<std::int64_t>& values) {
  if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end()) {
    columns_.push_back({std::move(name), values.size(), false, values.empty() ? 0 : values.front()});
    return;
  }
  bool wide = false;
  std::int64_t before = 0;
  for (const std::int64_t value : values) {
    wide = wide || value > std::numeric_limits<std::int32_t>::max() || value < std::numeric_limits<std::int32_t>::min();
    append(zigzag(value - before), bytes_);
    before = value;
  }
  columns_.push_back({std::move(name), values.size(), wide, std::nullopt});
}

std::string deflated(std::string_view bytes) {
  // Of the levels the one after which pages hardly get smaller, and making them takes much longer.
  constexpr int kLevel = 5;
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string out(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                static_cast<uLong>(bytes.size()), kLevel) != Z_OK) {
    throw std::runtime_error("there is not enough memory to compress the page");
  }
  out.resize(size);
  return out;
}

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) { return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U; };
    const std::uint32_t three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (int shift = 18; shift >= 0; shift -= 6) text.push_back(kDigits[three >> shift & 0x3F]);
  }
  for (std::size_t over = (3 - bytes.size() % 3) % 3; over > 0; --over) text[text.size() - over] = '=';
  return text;
}

}  // namespace shardlings::report

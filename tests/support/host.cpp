#include "support/host.h"

#include <bit>
#include <stdexcept>

#include "api/harness_calls.h"
#include "base/float8.h"

namespace shardlings::support {

namespace {

std::uint16_t bf16_bits(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(round_to_bf16(value)) >> 16U);
}

template <class T, class F>
std::vector<T> converted(const std::vector<float>& values, F convert) {
  std::vector<T> result;
  result.reserve(values.size());
  for (const float value : values) result.push_back(convert(value));
  return result;
}

template <class T>
Tensor load_raw(Rank& rank, const std::vector<T>& values, const Shape& shape, DType dtype, Kind kind) {
  return detail::harness::load(rank, std::span(values), shape, dtype, kind, Location::current());
}

}  // namespace

float round_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t half_down = 0x7FFFU + ((bits >> 16U) & 1U);
  return std::bit_cast<float>((bits + half_down) & 0xFFFF0000U);
}

float round_to(DType dtype, float value) {
  if (dtype == DType::bf16) return round_to_bf16(value);
  if (dtype == DType::i32) return static_cast<float>(static_cast<std::int32_t>(value));
  if (dtype == DType::e4m3) return float_of_e4m3(e4m3_of_float(value));
  if (dtype == DType::e8m0) return float_of_e8m0(e8m0_of_float(value));
  return value;
}

Tensor load(Rank& rank, const std::vector<float>& values, DType dtype, Kind kind) {
  return load(rank, values, Shape(static_cast<Count>(values.size())), dtype, kind);
}

Tensor load(Rank& rank, const std::vector<float>& values, const Shape& shape, DType dtype, Kind kind) {
  if (dtype == DType::bf16) {
    return load_raw(rank, converted<std::uint16_t>(values, bf16_bits), shape, dtype, kind);
  }
  if (dtype == DType::i32) {
    const auto integers = converted<std::int32_t>(values, [](float v) { return static_cast<std::int32_t>(v); });
    return load_raw(rank, integers, shape, dtype, kind);
  }
  if (dtype == DType::e4m3) return load_raw(rank, converted<std::uint8_t>(values, e4m3_of_float), shape, dtype, kind);
  if (dtype == DType::e8m0) return load_raw(rank, converted<std::uint8_t>(values, e8m0_of_float), shape, dtype, kind);
  return load_raw(rank, values, shape, dtype, kind);
}

void publish(Rank& rank, const std::string& name, ConstView view) {
  detail::harness::publish(rank, name, view, {1, view.size(), {{0, 1}, {0, view.size()}}}, Location::current());
}

const std::vector<float>& published(const front::RunReport& report, int rank, const std::string& name) {
  for (const front::Published& output : report.ranks.at(static_cast<std::size_t>(rank)).published) {
    if (output.name == name) return output.values;
  }
  throw std::runtime_error("rank " + std::to_string(rank) + " published no " + name);
}

}  // namespace shardlings::support

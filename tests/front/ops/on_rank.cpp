#include "front/ops/on_rank.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "api/harness_calls.h"
#include "support/on_rank.h"
#include "support/test_device.h"

namespace shardlings::ops_test {

using detail::harness::load;

namespace {

/// Fresh memory is NaN, so that no result can rest on what was there before.
world::Options options() {
  world::Options chosen;
  chosen.poison_empty = true;
  chosen.make_device = [](int) { return support::test_device().make(); };
  return chosen;
}

}  // namespace

front::RunReport on_rank(const std::function<void(Rank&)>& body) {
  return support::on_rank(options(), body);
}

std::string error_of(const std::function<void(Rank&)>& body) {
  return support::error_on_rank(options(), body);
}

Tensor put(Rank& rank, const Shape& shape, const Doubles& values, DType dtype) {
  const Floats rounded(values.begin(), values.end());
  Tensor x = load(rank, std::span(rounded), shape, DType::f32, Kind::other);
  return dtype == DType::f32 ? std::move(x) : cast(x, dtype);
}

Tensor put_ids(Rank& rank, const Shape& shape, const std::vector<int>& values) {
  const std::vector<std::int32_t> ids(values.begin(), values.end());
  return load(rank, std::span(ids), shape, DType::i32, Kind::other);
}

Floats get(ConstView view) {
  Tensor converted;
  if (view.dtype() != DType::f32) {
    converted = cast(view, DType::f32);
    view = converted;
  }
  return detail::harness::values_of(view);
}

std::uint64_t Source::next() {  // splitmix64
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

Count Source::integer(Count begin, Count end) {
  return begin + static_cast<Count>(next() % static_cast<std::uint64_t>(end - begin));
}

Doubles Source::numbers(Count n, double deviation) {
  Doubles values(static_cast<std::size_t>(n));
  for (double& value : values) {
    double sum = -6;  // of twelve uniform numbers: variance 1
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(next() >> 11U) * 0x1p-53;
    value = static_cast<double>(static_cast<float>(sum * deviation));
  }
  return values;
}

std::vector<int> Source::ids(Count n, int begin, int end) {
  std::vector<int> values(static_cast<std::size_t>(n));
  for (int& value : values) value = static_cast<int>(integer(begin, end));
  return values;
}

void expect_close(const Floats& got, const Doubles& want, double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double largest = 0;
  for (const double w : want) largest = std::max(largest, std::abs(w));
  const double allowed = tolerance * (1 + largest);
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!(std::abs(static_cast<double>(got[i]) - want[i]) <= allowed)) {
      ADD_FAILURE() << what << ": element " << i << " is " << got[i] << ", not " << want[i] << " (allowed " << allowed
                    << ")";
      return;
    }
  }
}

Doubles gradient(const std::function<double(const Doubles&)>& f, Doubles x) {
  constexpr double kStep = 1e-5;
  Doubles result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double at = x[i];
    x[i] = at + kStep;
    const double above = f(x);
    x[i] = at - kStep;
    const double below = f(x);
    x[i] = at;
    result[i] = (above - below) / (2 * kStep);
  }
  return result;
}

double dot(const Doubles& a, const Doubles& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace shardlings::ops_test

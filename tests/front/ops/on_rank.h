/// \file
/// Runs operations on a single rank and brings numbers in and out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "shardlings/puzzle.h"
#include "world/world.h"

namespace shardlings::ops_test {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

/// Runs `body` on one rank; its errors fail the test.
front::RunReport on_rank(const std::function<void(Rank&)>& body);
/// The message with which `body` fails; empty if it does not.
std::string error_of(const std::function<void(Rank&)>& body);

/// A tensor with these values, rounded to the type.
Tensor put(Rank& rank, const Shape& shape, const Doubles& values, DType dtype = DType::f32);
Tensor put_ids(Rank& rank, const Shape& shape, const std::vector<int>& values);
/// The values of a view, in any type.
Floats get(ConstView view);

/// A reproducible source of test values.
class Source {
 public:
  explicit Source(std::uint64_t seed) : state_(seed) {}
  /// In [begin, end).
  Count integer(Count begin, Count end);
  /// About normal, exactly representable in f32.
  Doubles numbers(Count n, double deviation = 1.0);
  std::vector<int> ids(Count n, int begin, int end);

 private:
  std::uint64_t next();
  std::uint64_t state_;
};

/// |got - want| <= tolerance * (1 + largest |want|), element by element; NaN fails.
void expect_close(const Floats& got, const Doubles& want, double tolerance, const std::string& what);

/// Central differences of f at x.
Doubles gradient(const std::function<double(const Doubles&)>& f, Doubles x);

/// Sum of products.
double dot(const Doubles& a, const Doubles& b);

}  // namespace shardlings::ops_test

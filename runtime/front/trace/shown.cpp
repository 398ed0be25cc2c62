#include "front/trace/shown.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace shardlings::front {
namespace {

void add_statistics(std::span<const float> elements, Shown& shown) {
  double sum = 0, squares = 0;
  bool any = false;
  for (const float element : elements) {
    if (!std::isfinite(element)) {
      ++(std::isnan(element) ? shown.nan : shown.infinite);
      continue;
    }
    const double x = element;
    shown.min = any ? std::min(shown.min, x) : x;
    shown.max = any ? std::max(shown.max, x) : x;
    any = true;
    sum += x;
    squares += x * x;
  }
  if (any) shown.mean = sum / static_cast<double>(shown.finite());
  shown.norm = std::sqrt(squares);
}

/// The first and the last of `n`, or all of them.
std::vector<Count> chosen(Count n, int first, int last) {
  std::vector<Count> some;
  for (Count i = 0; i < n; ++i) {
    if (i == first && n > first + last) i = n - last;
    some.push_back(i);
  }
  return some;
}

}  // namespace

bool ShownRow::operator==(const ShownRow& other) const {
  return row == other.row && values.size() == other.values.size() &&
         (values.empty() || std::memcmp(values.data(), other.values.data(), values.size() * sizeof(float)) == 0);
}

void look_at(std::span<const float> elements, Shown& shown) {
  add_statistics(elements, shown);
  if (elements.empty()) return;
  const Count cols = shown.shape.cols();
  for (const Count row : chosen(shown.shape.rows(), Shown::kFirstRows, Shown::kLastRows)) {
    ShownRow& some = shown.rows.emplace_back();
    some.row = row;
    for (const Count col : chosen(cols, Shown::kFirstColumns, Shown::kLastColumns)) {
      some.values.push_back(elements[static_cast<std::size_t>(row * cols + col)]);
    }
  }
}

}  // namespace shardlings::front

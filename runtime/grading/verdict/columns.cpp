#include "grading/verdict/columns.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <stdexcept>

namespace shardlings::grading::verdict {
namespace {

// Differences of any two numbers, and sums of any differences, are defined if no sign is looked at.
std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t minus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

template <class Number>
Number number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::runtime_error(fmt::format("'{}' is no number of a column", text.substr(0, 40)));
  }
  return number;
}

}  // namespace

std::string to_column(const std::vector<std::int64_t>& values) {
  std::string text;
  std::int64_t before = 0;
  for (std::size_t i = 0; i < values.size();) {
    const std::int64_t step = minus(values[i], before);
    std::size_t run = 0;
    for (; i < values.size() && minus(values[i], before) == step; ++i, ++run) before = values[i];
    fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : " ", step);
    if (run > 1) fmt::format_to(std::back_inserter(text), "*{}", run);
  }
  return text;
}

std::vector<std::int64_t> from_column(std::string_view text, std::size_t count) {
  std::vector<std::int64_t> values;
  std::int64_t value = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::size_t star = word.find('*');
    const auto step = number_of<std::int64_t>(word.substr(0, star));
    const std::size_t run = star == std::string_view::npos ? 1 : number_of<std::size_t>(word.substr(star + 1));
    if (run == 0 || run > count - values.size()) throw std::runtime_error("a column has too many numbers");
    for (std::size_t i = 0; i < run; ++i) values.push_back(value = plus(value, step));
  }
  if (values.size() != count) throw std::runtime_error("a column has too few numbers");
  return values;
}

}  // namespace shardlings::grading::verdict

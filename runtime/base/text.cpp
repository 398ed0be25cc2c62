#include "base/text.h"

#include <fmt/format.h>

namespace shardlings {

std::string trimmed(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n";
  const auto begin = text.find_first_not_of(kWhite);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(kWhite) - begin + 1));
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::size_t length_of_place(std::string_view line) {
  std::size_t end = line.find(':');
  if (end == 0 || line.starts_with(' ')) return 0;  // what begins so is a line of a source, which may say anything
  for (int number = 0; number < 2; ++number) {
    if (end >= line.size() || line[end] != ':') return 0;
    const std::size_t begin = end + 1;
    end = line.find_first_not_of("0123456789", begin);
    if (end == begin) return 0;
  }
  return end < line.size() && line.substr(end).starts_with(": ") ? end + 2 : 0;
}

std::string quoted_for_shell(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += R"('\'')";  // ends the quotes, and begins others
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string to_text(Location at) {
  if (at.line <= 0) return "somewhere";
  return fmt::format("{}:{}", base_name(at.file), at.line);
}

std::string to_text(const Shape& shape) {
  std::string text = "(";
  for (int i = 0; i < shape.rank(); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", shape[i]);
  return text + ")";
}

std::string to_text(Bytes size) {
  const auto n = size.value();
  if (n < 1024) return fmt::format("{} B", n);
  const char* units[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(n) / 1024;
  int unit = 0;
  for (; value >= 1024 && unit < 3; ++unit) value /= 1024;
  return fmt::format("{:.4g} {} ({} B)", value, units[unit], n);
}

std::string to_text(Nanos time) {
  const auto ns = static_cast<double>(time.value());
  if (ns < 1e3) return fmt::format("{} ns", time.value());
  if (ns < 1e6) return fmt::format("{:.4g} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.4g} ms", ns / 1e6);
  return fmt::format("{:.4g} s", ns / 1e9);
}

namespace {

/// "0-3", "5": of at most so many characters together. Returns how many ranks that are.
std::size_t add_ranks(const std::vector<int>& ranks, std::size_t longest, std::string& text) {
  std::size_t i = 0;
  while (i < ranks.size()) {
    std::size_t j = i;
    while (j + 1 < ranks.size() && ranks[j + 1] == ranks[j] + 1) ++j;
    if (j - i < 3) j = i;
    const std::string piece = j > i ? fmt::format("{}-{}", ranks[i], ranks[j]) : fmt::format("{}", ranks[i]);
    if (text.size() + piece.size() > longest) return i;
    if (!text.empty()) text += ", ";
    text += piece;
    i = j + 1;
  }
  return i;
}

}  // namespace

std::string list_of_ranks(const std::vector<int>& ranks) {
  std::string text;
  add_ranks(ranks, std::string::npos, text);
  return text;
}

std::string ranks_text(const std::vector<int>& ranks) {
  const std::string all = (ranks.size() == 1 ? "rank " : "ranks ") + list_of_ranks(ranks);
  constexpr std::size_t kLongest = 200, kShown = 60;
  if (all.size() <= kLongest) return all;
  std::string first;
  const std::size_t shown = add_ranks(ranks, kShown, first);
  return fmt::format("ranks {} and {} more", first, ranks.size() - shown);
}

}  // namespace shardlings

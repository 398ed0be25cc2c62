#include "fuzz/damage.h"

#include <algorithm>
#include <vector>

namespace shardlings::fuzz {
namespace {

std::vector<std::string> lines_of_file(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return lines;
}

}  // namespace

std::string Damage::operator()(std::string text) {
  for (std::size_t changes = 1 + below(3); changes > 0 && !text.empty(); --changes) text = once(std::move(text));
  return text;
}

std::string Damage::once(std::string text) {
  static const std::vector<std::string> kStrange = {"-1",
                                                    "0",
                                                    "1e400",
                                                    "nan",
                                                    "-inf",
                                                    "9223372036854775807",
                                                    "99999999999999999999",
                                                    "\"\"",
                                                    "[]",
                                                    "{}",
                                                    "true",
                                                    "null",
                                                    "'''",
                                                    "\"\"\"",
                                                    "[[cases]]\n",
                                                    "\xff\xfe",
                                                    std::string(1, '\0'),
                                                    "[[[[[[[[[[[[[[[[",
                                                    "1979-05-27"};
  const auto at = below(text.size());
  switch (below(5)) {
    case 0: text[at] = static_cast<char>(random_()); return text;
    case 1: return text.substr(0, at);
    case 2: return number_replaced(text, at, kStrange[below(kStrange.size())]);
    default: return line_moved(text);
  }
}

std::string Damage::number_replaced(const std::string& text, std::size_t at, const std::string& by) {
  const std::size_t begin = text.find_first_of("0123456789\"", at);
  if (begin == std::string::npos) return text + by;
  const std::size_t end = text.find_first_of(" ,\n]}", begin);
  return text.substr(0, begin) + by + (end == std::string::npos ? "" : text.substr(end));
}

std::string Damage::line_moved(const std::string& text) {
  std::vector<std::string> lines = lines_of_file(text);
  const auto from = below(lines.size()), to = below(lines.size());
  const std::string line = lines[from];
  if (below(3) != 0) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(from));
  if (below(2) != 0 && to < lines.size()) lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to), line);
  std::string moved;
  for (const std::string& one : lines) moved += one;
  return moved;
}

}  // namespace shardlings::fuzz

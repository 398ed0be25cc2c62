#include "report/memory_strip.h"

#include <algorithm>
#include <array>
#include <functional>

namespace shardlings::report {
namespace {

constexpr std::array<const char*, 9> kBars{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, 4> kAsciiBars{" ", ".", ":", "|"};

struct Glyph {
  const char* text;
  Role role;
};

/// Neighbours of one role are written with one escape sequence.
std::string row_of(const std::vector<std::int64_t>& curve, const Style& style,
                   const std::function<Glyph(std::int64_t bytes)>& glyph_of) {
  std::string row;
  for (std::size_t c = 0; c < curve.size();) {
    const Role role = glyph_of(curve[c]).role;
    std::string text;
    for (; c < curve.size() && glyph_of(curve[c]).role == role; ++c) text += glyph_of(curve[c]).text;
    row += style(role, text);
  }
  return row;
}

const char* bar(std::int64_t level, const Style& style) {
  return style.charset() == Charset::unicode ? kBars.at(static_cast<std::size_t>(level))
                                             : kAsciiBars.at(static_cast<std::size_t>(level));
}

std::int64_t steps(const Style& style) {
  return style.charset() == Charset::unicode ? 8 : 3;
}

}  // namespace

std::string memory_strip(const std::vector<std::int64_t>& curve, MemoryScale scale, std::optional<std::int64_t> budget,
                         const Style& style) {
  const std::int64_t span = std::max<std::int64_t>(1, scale.high - scale.low);
  return row_of(curve, style, [&](std::int64_t bytes) -> Glyph {
    if (budget && bytes > *budget) return {style.pick("▲", "!"), Role::bad};
    // Rounded down: only what reaches the top is full.
    const std::int64_t level = 1 + (bytes - scale.low) * (steps(style) - 1) / span;
    return {bar(std::clamp<std::int64_t>(level, 1, steps(style)), style), Role::memory};
  });
}

std::string budget_line(const std::vector<std::int64_t>& curve, MemoryScale scale, const Style& style) {
  const std::int64_t span = std::max<std::int64_t>(1, scale.high - scale.low);
  return row_of(curve, style, [&](std::int64_t bytes) -> Glyph {
    if (bytes <= scale.high) return {style.pick("▁", "_"), Role::warning};
    if (style.charset() == Charset::ascii) return {"!", Role::bad};
    const std::int64_t level = 3 + (bytes - scale.high) * 7 / span;  // higher than the line in any case
    return {bar(std::min<std::int64_t>(level, 8), style), Role::bad};
  });
}

}  // namespace shardlings::report

#include "report/timeline_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "report/text.h"
#include "report/timeline.h"

namespace shardlings::report {
namespace {

struct Look {
  Role role;
  const char* unicode;
  const char* ascii;
  const char* name;
};

// By Paint. Legible without colours: each has a texture of its own.
constexpr std::array<Look, 10> kLooks{{{Role::plain, " ", " ", "idle"},
                                       {Role::forward, "█", "#", "forward"},
                                       {Role::backward, "▒", "=", "backward"},
                                       {Role::update, "▚", "l", "loss"},
                                       {Role::update, "▞", "u", "update"},
                                       {Role::operation, "▓", "+", "operation"},
                                       {Role::transfer, "━", "~", "collective"},
                                       {Role::transfer, "→", ">", "send"},
                                       {Role::transfer, "←", "<", "receive"},
                                       {Role::transfer, "↔", "x", "both ways"}}};

const Look& look_of(Paint paint) {
  return kLooks[static_cast<std::size_t>(paint)];
}

// Cells of one look are written with one escape sequence.
std::string drawn(const Row& row, const Style& style) {
  std::string line;
  for (std::size_t c = 0; c < row.cells.size();) {
    const Cell& first = row.cells[c];
    const Look& look = look_of(first.paint);
    std::string text;
    if (first.digit != 0) {
      for (; c < row.cells.size() && row.cells[c].digit != 0 && row.cells[c].paint == first.paint; ++c) {
        text += row.cells[c].digit;
      }
      line += style.on(look.role, text);
      continue;
    }
    for (; c < row.cells.size() && row.cells[c].digit == 0 && row.cells[c].paint == first.paint; ++c) {
      text += row.cells[c].begins ? style.pick("╎", "|") : style.pick(look.unicode, look.ascii);
    }
    line += style(look.role, text);
  }
  return line;
}

std::string plural(std::int64_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

class Picture {
 public:
  Picture(const grading::CaseVerdict& kase, const Style& style, const TimelineText& options)
      : kase_(kase), style_(style), options_(options), totals_(totals_of(kase.counters)) {
    const auto ranks = static_cast<int>(kase.traces.size());
    const std::string longest = rank_label(ranks > options.join_above ? RankRange{ranks - 2, ranks - 1} : RankRange{});
    margin_ = std::max(7, columns_of(longest) + 1);
    timeline_ = lay_out(kase.traces, options.width - margin_ - 2);
  }

  std::vector<std::string> lines() {
    if (timeline_.columns > 0) {
      title();
      axis();
      rows();
      memory();
      if (options_.legend) legend();
    }
    summary();
    return std::move(lines_);
  }

 private:
  void line(const std::string& label, const std::string& body, const std::string& after = "") {
    const std::string edge = style_(Role::dim, style_.pick("│", "|"));
    lines_.push_back(fmt::format("{:<{}}", label, margin_) + edge + body + edge + after);
  }

  void title() {
    const std::string text = harmless_line(options_.title, style_.charset());
    for (const std::string& part : wrap(text, options_.width)) lines_.push_back(style_(Role::strong, part));
  }

  void axis() {
    const std::string end = to_text(timeline_.end);
    const int room = timeline_.columns - columns_of(end);
    const std::string scale = room > 1 ? "0" + std::string(static_cast<std::size_t>(room - 1), ' ') + end : end;
    lines_.push_back(std::string(static_cast<std::size_t>(margin_ + 1), ' ') + style_(Role::dim, scale));
  }

  static std::string rank_label(RankRange ranks) {
    if (ranks.first == ranks.last) return fmt::format("rank {}", ranks.first);
    return fmt::format("rank {}-{}", ranks.first, ranks.last);
  }

  void rows() {
    std::vector<RankRange> shown;
    if (static_cast<int>(kase_.traces.size()) > options_.join_above) {
      shown = equal_ranks(timeline_);
    } else {
      for (int rank = 0; rank < static_cast<int>(kase_.traces.size()); ++rank) shown.push_back({rank, rank});
    }
    const int all = static_cast<int>(shown.size());
    const int kept = options_.most_ranks - 1;  // and the last one
    for (int i = 0; i < all; ++i) {
      const bool left_out = all > options_.most_ranks && i >= kept && i < all - 1;
      if (!left_out) {
        rows_of(shown[static_cast<std::size_t>(i)]);
      } else if (i == kept) {
        const int ranks = shown.back().first - shown[static_cast<std::size_t>(kept)].first;
        const std::string more =
            fmt::format("{:>{}} {} more", style_.pick("⋮", ":"), margin_ - 1, plural(ranks, "rank"));
        lines_.push_back(style_(Role::dim, more));
      }
    }
  }

  void rows_of(RankRange ranks) {
    std::string label = rank_label(ranks);
    for (const Row& row : timeline_.rows) {
      if (row.rank != ranks.first) continue;
      line(label, drawn(row, style_));
      label.clear();
    }
  }

  void memory() {
    const auto rank = static_cast<std::size_t>(totals_.peak_rank);
    if (options_.memory_rows < 1 || rank >= kase_.traces.size()) return;
    const auto curve = memory_curve(kase_.traces[rank], timeline_.end, timeline_.columns);
    if (curve.empty() || totals_.peak <= Bytes(0)) return;
    lowest_ = *std::min_element(curve.begin(), curve.end());
    if (lowest_ == totals_.peak.value()) return;  // nothing changes
    for (int row = options_.memory_rows - 1; row >= 0; --row) {
      std::string text;
      for (const std::int64_t bytes : curve) text += level_of(bytes, row);
      line(row == 0 ? "memory" : "", style_(Role::memory, text));
    }
  }

  // What a column of the curve shows in row `row` (0: lowest). The scale goes from the lowest value to the peak, for
  // weights alone would fill most of it.
  const char* level_of(std::int64_t bytes, int row) const {
    constexpr std::array<const char*, 9> kBars{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    constexpr std::array<const char*, 4> kAsciiBars{" ", ".", ":", "|"};
    const std::int64_t steps = style_.charset() == Charset::unicode ? 8 : 3;
    const std::int64_t most = steps * options_.memory_rows - 1;
    const std::int64_t span = std::max<std::int64_t>(1, totals_.peak.value() - lowest_);
    const std::int64_t height = 1 + (bytes - lowest_) * most / span;  // rounded down: only the peak is full
    const auto level = static_cast<std::size_t>(std::clamp<std::int64_t>(height - row * steps, 0, steps));
    return style_.charset() == Charset::unicode ? kBars[level] : kAsciiBars[level];
  }

  void legend() {
    std::array<bool, kLooks.size()> seen{};
    for (const Row& row : timeline_.rows) {
      for (const Cell& cell : row.cells) seen[static_cast<std::size_t>(cell.paint)] = true;
    }
    const int indent = margin_ + 1;
    std::vector<std::pair<std::string, int>> parts;  // text and its columns
    for (std::size_t i = 1; i < kLooks.size(); ++i) {
      if (!seen[i]) continue;
      const Look& look = kLooks[i];
      parts.emplace_back(
          style_(look.role, style_.pick(look.unicode, look.ascii)) + style_(Role::dim, fmt::format(" {}", look.name)),
          2 + columns_of(look.name));
    }
    if (timeline_.numbering != Numbering::none) {
      const std::string text = timeline_.numbering == Numbering::layer ? "numbers: layers" : "numbers: micro-batches";
      parts.emplace_back(style_(Role::dim, text), columns_of(text));
    }
    std::string line(static_cast<std::size_t>(indent), ' ');
    int used = indent;
    for (const auto& [text, columns] : parts) {
      if (used > indent && used + 3 + columns > options_.width) {
        lines_.push_back(line);
        line = std::string(static_cast<std::size_t>(indent), ' ');
        used = indent;
      }
      if (used > indent) line += "   ", used += 3;
      line += text;
      used += columns;
    }
    if (used > indent) lines_.push_back(line);
  }

  void summary() {
    if (kase_.counters.empty()) return;
    std::vector<std::string> parts;
    if (totals_.end > Nanos(0)) parts.push_back(fmt::format("virtual time {}", to_text(totals_.end)));
    if (totals_.computes) parts.push_back(fmt::format("idle (bubble) {:.1f} %", 100 * totals_.idle));
    if (totals_.computes && totals_.transfer > Nanos(0)) {
      const double overlapped = totals_.overlapped / totals_.transfer;
      parts.push_back(fmt::format("{:.0f} % of communication overlapped", 100 * overlapped));
    }
    parts.push_back(harmless_line(memory_text(), style_.charset()));
    if (totals_.sent > Bytes(0)) parts.push_back(sent_text());
    const std::string text = fmt::format("{}", fmt::join(parts, style_.pick(" · ", ", ")));
    for (const std::string& part : wrap(text, options_.width)) lines_.push_back(part);
  }

  std::string memory_text() const {
    std::string text = "peak " + brief(totals_.peak);
    if (kase_.counters.size() > 1) text += fmt::format(" on rank {}", totals_.peak_rank);
    if (totals_.peak_line > 0) {
      text += fmt::format(" at {}", to_text(Location{totals_.peak_file.c_str(), totals_.peak_line}));
    }
    if (lowest_ > 0 && lowest_ < totals_.peak.value()) text += fmt::format(" (never below {})", brief(Bytes(lowest_)));
    return text;
  }

  std::string sent_text() const {
    if (totals_.sent_equal) return fmt::format("sent {} per rank", brief(totals_.sent_by_most));
    return fmt::format("sent {} at most, {} in all", brief(totals_.sent_by_most), brief(totals_.sent));
  }

  const grading::CaseVerdict& kase_;
  const Style& style_;
  const TimelineText& options_;
  Totals totals_;
  Timeline timeline_;
  int margin_ = 7;
  std::int64_t lowest_ = 0;  // of the memory curve
  std::vector<std::string> lines_;
};

}  // namespace

std::string brief(Bytes size) {
  const std::string text = to_text(size);
  return text.substr(0, text.find(" ("));
}

std::vector<std::string> timeline_lines(const grading::CaseVerdict& kase, const Style& style,
                                        const TimelineText& options) {
  return Picture(kase, style, options).lines();
}

}  // namespace shardlings::report

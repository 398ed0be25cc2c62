#include "report/timeline_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/terminal_text.h"
#include "base/text.h"
#include "report/cells.h"
#include "report/harmless.h"
#include "report/memory_strip.h"
#include "report/rank_choice.h"
#include "report/summary.h"
#include "report/timeline.h"
#include "report/totals.h"

namespace shardlings::report {
namespace {

constexpr int kEdges = 2;  // columns of the frame

std::string rank_label(RankRange ranks) {
  if (ranks.first == ranks.last) return fmt::format("rank {}", ranks.first);
  return fmt::format("ranks {}-{}", ranks.first, ranks.last);
}

std::string lane_label(front::Lane lane) {
  return fmt::format("  {}", name_of(lane).label);
}

class Picture {
 public:
  Picture(const grading::verdict::CaseVerdict& kase, const Style& style, const TimelineText& options)
      : kase_(kase), style_(style), options_(options), totals_(totals_of(kase.counters)) {
    draw_beside(margin(std::vector<RankRange>(1)));
    ranges_ = ranges();
    // Labels of several ranks are longer, and leave less room for what is drawn.
    if (const int longer = margin(ranges_); longer > margin_) draw_beside(longer);
  }

  std::vector<std::string> lines() {
    if (timeline_.columns > 0) {
      title();
      if (options_.figures) axis();
      rows();
      if (options_.legend) legend();
    }
    if (options_.figures) {
      std::vector<std::string> summary = summary_lines(kase_, totals_, style_, options_.width, memory_note());
      // The picture is as small as it can be: beside it there is room for one line.
      if (options_.memory == MemoryRows::none && options_.most_ranks == 1 && summary.size() > 1) summary.resize(1);
      lines_.insert(lines_.end(), summary.begin(), summary.end());
    }
    return std::move(lines_);
  }

 private:
  void draw_beside(int margin) {
    margin_ = margin;
    timeline_ = lay_out(kase_.traces, options_.width - margin_ - kEdges, goal_traces());
    measure_memory();
  }

  int margin(const std::vector<RankRange>& labelled) const {
    int columns = columns_of(options_.goal ? "  goal" : "  mem");
    for (const RankRange& ranks : labelled) columns = std::max(columns, columns_of(rank_label(ranks)));
    for (const auto& trace : kase_.traces) {
      for (const front::Event& event : trace.events) columns = std::max(columns, columns_of(lane_label(event.lane)));
    }
    return columns + 1;
  }

  const std::vector<front::RankTrace>& goal_traces() const {
    static const std::vector<front::RankTrace> kNone;
    return options_.goal != nullptr && options_.goal->traces.size() == kase_.traces.size() ? options_.goal->traces
                                                                                           : kNone;
  }

  /// What the goal does in this lane of this rank, for one row; empty if there is no goal.
  std::string goal_row(int rank, front::Lane lane) const {
    const auto found = std::find_if(timeline_.goal.begin(), timeline_.goal.end(),
                                    [&](const Row& row) { return row.rank == rank && row.lane == lane; });
    return found == timeline_.goal.end() ? "" : drawn(*found, style_);
  }

  void line(const std::string& label, const std::string& body) {
    const std::string edge = style_(Role::dim, style_.pick("│", "|"));
    lines_.push_back(fmt::format("{:<{}}", label, margin_) + edge + body + edge);
  }

  void title() {
    const std::string text = harmless_line(options_.title, style_.charset());
    for (const std::string& part : wrap(text, options_.width)) lines_.push_back(style_(Role::strong, part));
  }

  void axis() {
    const std::string end = to_text(timeline_.end);
    const int room = timeline_.columns - columns_of(end);
    lines_.push_back(spaces(margin_ + 1) + style_(Role::dim, room > 1 ? "0" + spaces(room - 1) + end : end));
  }

  /// All strips begin at the lowest value of any rank, and are full at the rank's budget or, where there is none, at
  /// the highest peak.
  void measure_memory() {
    curves_.clear();
    lowest_.reset();
    highest_ = 0;
    for (const front::RankTrace& trace : kase_.traces) {
      curves_.push_back(memory_curve(trace, timeline_.end, timeline_.columns));
      if (curves_.back().empty()) continue;
      const auto [low, high] = std::minmax_element(curves_.back().begin(), curves_.back().end());
      lowest_ = lowest_ ? std::min(*lowest_, *low) : *low;
      highest_ = std::max(highest_, *high);
    }
    if (!lowest_ || *lowest_ == highest_ || options_.memory == MemoryRows::none) curves_.clear();  // nothing changes
  }

  std::optional<std::int64_t> budget(int rank) const {
    const auto bytes = peak_budget(kase_, rank);
    return bytes ? std::optional(bytes->value()) : std::nullopt;
  }

  MemoryScale scale(int rank) const { return {*lowest_, std::max(budget(rank).value_or(highest_), *lowest_ + 1)}; }

  /// The strip of a rank, and the line above it where there is a budget.
  std::vector<std::string> strip(int rank, bool with_line) const {
    if (curves_.empty()) return {};
    const auto& curve = curves_[static_cast<std::size_t>(rank)];
    if (curve.empty()) return {};
    const auto allowed = budget(rank);
    std::vector<std::string> rows;
    if (with_line && allowed) rows.push_back(budget_line(curve, scale(rank), style_));
    // Where the line shows what is too much, the strip below it is simply full.
    rows.push_back(memory_strip(curve, scale(rank), with_line ? std::nullopt : allowed, style_));
    return rows;
  }

  std::vector<RankRange> ranges() const {
    const auto ranks = static_cast<int>(kase_.traces.size());
    std::vector<std::string> strips;
    strips.reserve(kase_.traces.size());
    const bool each = options_.memory >= MemoryRows::strips;
    for (int rank = 0; rank < ranks; ++rank) {
      strips.push_back(each ? fmt::format("{}", fmt::join(strip(rank, false), "")) : "");
      for (const Row& row : timeline_.goal) {
        if (row.rank == rank) strips.back() += drawn(row, style_);
      }
    }
    return equal_ranks(timeline_, strips);
  }

  void rows() {
    for (const ShownRanks& shown : shown_ranks(ranges_, options_.most_ranks, totals_.peak_rank, totals_.slowest_rank)) {
      if (shown.left_out_before > 0) left_out(shown);
      rows_of(shown.ranks);
    }
  }

  void left_out(const ShownRanks& shown) {
    std::string text =
        fmt::format("{:>{}} {} more", style_.pick("⋮", ":"), margin_ - 1,
                    fmt::format("{} rank{}", shown.left_out_before, shown.left_out_before == 1 ? "" : "s"));
    if (!shown.why.empty()) text += fmt::format("; {}: {}", rank_label(shown.ranks), shown.why);
    lines_.push_back(style_(Role::dim, first_columns(text, options_.width)));
  }

  void rows_of(RankRange ranks) {
    std::string label = rank_label(ranks);
    for (const Row& row : timeline_.rows) {
      if (row.rank != ranks.first) continue;
      line(label.empty() ? lane_label(row.lane) : label, drawn(row, style_));
      label.clear();
      if (const std::string goal = goal_row(row.rank, row.lane); !goal.empty()) line("  goal", goal);
    }
    const bool worst = ranks.first <= totals_.peak_rank && totals_.peak_rank <= ranks.last;
    if (options_.memory == MemoryRows::worst && !worst) return;
    const bool with_line =
        options_.memory == MemoryRows::strips_and_lines || (worst && options_.memory == MemoryRows::strips);
    const auto strips = strip(worst ? totals_.peak_rank : ranks.first, with_line);
    if (strips.empty()) return;
    if (strips.size() > 1) line(" max", strips[0]);
    line("  mem", strips.back());
  }

  void legend() {
    const int indent = margin_ + 1;
    std::string text = spaces(indent);
    int used = indent;
    for (const auto& [part, columns] : legend_of(timeline_, style_)) {
      if (used > indent && used + 3 + columns > options_.width) {
        lines_.push_back(text);
        text = spaces(indent);
        used = indent;
      }
      if (used > indent) text += "   ", used += 3;
      text += part;
      used += columns;
    }
    if (used > indent) lines_.push_back(text);
  }

  /// A check that compares rank by rank ends at the first rank that has too much.
  bool has_ranks_without_budget() const {
    for (int rank = 0; rank < static_cast<int>(kase_.traces.size()); ++rank) {
      if (!budget(rank)) return true;
    }
    return false;
  }

  /// What the strips' lowest step and their top are; empty where there are no strips.
  std::string memory_note() const {
    if (curves_.empty() || timeline_.columns == 0) return "";
    const auto allowed = budget(totals_.peak_rank);
    const std::string lowest = brief(Bytes(*lowest_)), highest = brief(Bytes(highest_));
    if (!allowed) return fmt::format("mem: from {} to {}", lowest, highest);
    const std::string note = fmt::format("mem: from {} to the budget, {}", lowest, brief(Bytes(*allowed)));
    return has_ranks_without_budget() ? note + "; on ranks that were not compared, to " + highest : note;
  }

  const grading::verdict::CaseVerdict& kase_;
  const Style& style_;
  const TimelineText& options_;
  Totals totals_;
  Timeline timeline_;
  int margin_ = 0;
  std::vector<RankRange> ranges_;                  // that share rows
  std::vector<std::vector<std::int64_t>> curves_;  // by rank; empty: memory is not drawn
  std::optional<std::int64_t> lowest_;
  std::int64_t highest_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> timeline_lines(const grading::verdict::CaseVerdict& kase, const Style& style,
                                        const TimelineText& options) {
  return Picture(kase, style, options).lines();
}

}  // namespace shardlings::report

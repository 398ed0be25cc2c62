#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/terminal_text.h"
#include "base/text.h"
#include "report/blocks.h"
#include "report/rank_choice.h"
#include "report/style.h"
#include "report/summary.h"
#include "report/svg_canvas.h"
#include "report/svg_memory.h"
#include "report/timeline.h"
#include "report/totals.h"

namespace shardlings::report {
namespace {

using front::Lane;
using Box = SvgCanvas::Box;
using Anchor = SvgCanvas::Anchor;

constexpr double kWidth = 960, kMargin = 20, kLeft = 92;
constexpr double kPlot = kWidth - kLeft - kMargin;
constexpr double kProgram = 22, kLink = 13, kMemory = 30, kGap = 4, kRankGap = 14;
constexpr int kSamples = 1000;  // columns in which ranks are compared
// There is room for so many: of more, neighbours that show the same share their rows.
constexpr int kMostSeparateRanks = 4;

struct PaintName {
  Paint paint;
  const char* name;
};
constexpr std::array<PaintName, 9> kPaints{{{Paint::forward, "forward"},
                                            {Paint::backward, "backward"},
                                            {Paint::weights, "weights"},
                                            {Paint::loss, "loss"},
                                            {Paint::update, "update"},
                                            {Paint::operation, "operation"},
                                            {Paint::collective, "collective"},
                                            {Paint::send, "send"},
                                            {Paint::recv, "receive"}}};

/// The least of 1, 2, 5, 10, … ns of which at most eight fit into `end`.
std::int64_t round_step(std::int64_t end) {
  constexpr std::int64_t kMost = 8;
  for (std::int64_t decade = 1;; decade *= 10) {
    for (const std::int64_t factor : {1, 2, 5}) {
      if (end / (decade * factor) <= kMost) return decade * factor;
    }
  }
}

/// Outlined, so that what goes forward or out stands out.
bool is_shaded(Paint paint) {
  return paint == Paint::backward || paint == Paint::weights || paint == Paint::loss || paint == Paint::recv;
}

bool is_striped(Paint paint) {
  return paint == Paint::weights || paint == Paint::update || paint == Paint::operation;
}

std::string hue_class(int hue) {
  return hue >= 0 ? fmt::format("h{}", hue % kHues) : "plain";
}

/// Operations that overlap are drawn on tracks side by side; receives apart from what is sent.
std::vector<std::vector<Block>> tracks_of(const std::vector<Block>& blocks) {
  std::vector<std::vector<Block>> out, in;
  for (const Block& block : blocks) {
    auto& tracks = block.paint == Paint::recv ? in : out;
    const auto free =
        std::find_if(tracks.begin(), tracks.end(), [&](const auto& track) { return track.back().end <= block.begin; });
    if (free == tracks.end()) {
      tracks.push_back({block});
    } else {
      free->push_back(block);
    }
  }
  out.insert(out.end(), in.begin(), in.end());
  return out;
}

class SvgTimeline {
 public:
  SvgTimeline(const grading::verdict::CaseVerdict& kase, const std::string& title, bool figures)
      : kase_(kase),
        title_(title),
        figures_(figures),
        run_(blocks_of(kase.traces)),
        totals_(totals_of(kase.counters)),
        memory_(kase, run_.end) {}

  std::string document() {
    canvas_.text(kMargin, y_ + 15, title_, "title ink");
    y_ += 34;
    if (run_.end > Nanos(0)) {
      axis();
      ranks();
      legend();
    }
    for (const std::string& line : summary(132)) {
      canvas_.text(kMargin, y_ + 12, line, "soft");
      y_ += 17;
    }
    return canvas_.document(kWidth, y_ + 12, title_, description());
  }

 private:
  double x_of(std::int64_t time) const {
    return kLeft + kPlot * static_cast<double>(time) / static_cast<double>(run_.end.value());
  }

  /// 0, round times, and, if figures are wanted, the end.
  void axis() {
    constexpr double kRoomOfEnd = 60;
    canvas_.text(kLeft, y_ + 6, "0", "small soft");
    const std::int64_t step = round_step(run_.end.value());
    for (std::int64_t time = step; x_of(time) < kLeft + kPlot - kRoomOfEnd; time += step) {
      canvas_.line(x_of(time), y_ + 9, x_of(time), y_ + 13, "grid");
      canvas_.text(x_of(time), y_ + 6, to_text(Nanos(time)), "small soft", Anchor::middle);
    }
    if (figures_) canvas_.text(kLeft + kPlot, y_ + 6, to_text(run_.end), "small soft", Anchor::end);
    y_ += 14;
  }

  std::vector<RankRange> ranges() const {
    const auto ranks = static_cast<int>(kase_.traces.size());
    std::vector<RankRange> all;
    // Of a simulation the ranks that somebody wanted to see: of the others nothing is known.
    if (kase_.kase.traced) {
      for (const int rank : *kase_.kase.traced) all.push_back({rank, rank});
      return all;
    }
    if (ranks > kMostSeparateRanks) {
      std::vector<std::string> curves;
      curves.reserve(kase_.traces.size());
      for (int rank = 0; rank < ranks; ++rank) curves.push_back(memory_.text(rank));
      return equal_ranks(lay_out(kase_.traces, kSamples), curves);
    }
    all.reserve(kase_.traces.size());
    for (int rank = 0; rank < ranks; ++rank) all.push_back({rank, rank});
    return all;
  }

  void ranks() {
    const int most = kase_.kase.traced ? kase_.kase.ranks : kMostRankRows;
    for (const ShownRanks& shown : shown_ranks(ranges(), most, totals_.peak_rank, totals_.slowest_rank)) {
      if (shown.left_out_before > 0) {
        canvas_.text(kLeft, y_ + 12,
                     fmt::format("… {} {} more", shown.left_out_before, shown.left_out_before == 1 ? "rank" : "ranks"),
                     "soft");
        y_ += 24;
      }
      rank(shown);
    }
  }

  void rank(const ShownRanks& shown) {
    const RankRange ranks = shown.ranks;
    const std::string name = ranks.first == ranks.last ? fmt::format("rank {}", ranks.first)
                                                       : fmt::format("rank {}–{}", ranks.first, ranks.last);
    canvas_.open_group(shown.why.empty() ? name : name + ": " + shown.why);
    std::string label = name;
    for (const LaneBlocks& lane : run_.lanes) {
      if (lane.rank != ranks.first) continue;
      this->lane(lane, label.empty() ? std::string(name_of(lane.lane).label) : label);
      label.clear();
    }
    const bool worst = ranks.first <= totals_.peak_rank && totals_.peak_rank <= ranks.last;
    memory(worst ? totals_.peak_rank : ranks.first);
    canvas_.close_group();
    y_ += kRankGap;
  }

  void lane(const LaneBlocks& lane, const std::string& label) {
    const bool program = lane.lane == Lane::compute;
    const double height = program ? kProgram : kLink;
    canvas_.text(kLeft - 10, y_ + height / 2 + 4, label, label.starts_with("rank") ? "ink" : "small soft", Anchor::end);
    const std::vector<std::vector<Block>> one{lane.blocks};
    for (const auto& track : program ? one : tracks_of(lane.blocks)) {
      canvas_.rect({kLeft, y_, kPlot, height}, "track", 2);
      for (const Block& block : track) this->block(block, height);
      y_ += height + (program ? 0 : 1);
    }
    y_ += kGap;
  }

  void block(const Block& block, double height) {
    const double left = x_of(block.begin), width = x_of(block.end) - left;
    // What is narrower than a third of a unit and touches the one before adds nothing to see.
    if (width < 0.33 && last_drawn_ > left - 0.33 && last_y_ == y_) return;
    last_drawn_ = left + width;
    last_y_ = y_;
    const bool full = !is_shaded(block.paint);
    const double gap = width > 3 ? 0.5 : 0;  // neighbours of one colour stay apart
    const Box box{left + gap, y_ + (full ? 0 : 0.5), std::max(width - 2 * gap, 0.4), height - (full ? 0 : 1)};
    const bool link = block.paint >= Paint::collective;
    const double radius = width > 6 ? (link ? height / 2 : 2) : 0;
    canvas_.rect(box, hue_class(block.hue) + (full ? " full" : " shaded"), radius);
    if (is_striped(block.paint)) canvas_.rect(box, "stripes", radius);
    number(block, left + width / 2, width, height, full);
    seen_[static_cast<std::size_t>(block.paint)] = true;
  }

  void number(const Block& block, double middle, double width, double height, bool full) {
    std::string text = block.number >= 0 ? std::to_string(block.number) : "";
    if (block.paint == Paint::send && width > 26) text += text.empty() ? "→" : " →";
    if (block.paint == Paint::recv && width > 26) text = text.empty() ? "←" : "← " + text;
    if (text.empty() || width < 5 + 6.5 * columns_of(text)) return;
    if (run_.numbering == Numbering::micro_batch && block.paint == Paint::update) return;
    numbered_ = numbered_ || block.number >= 0;
    const bool small = height < kProgram;
    canvas_.text(middle, y_ + height / 2 + (small ? 3.5 : 4), text,
                 fmt::format("{} {}", small ? "small" : "number", full ? "on" : hue_class(block.hue) + " label"),
                 Anchor::middle);
  }

  void memory(int rank) {
    if (memory_.empty()) return;
    canvas_.rect({kLeft, y_, kPlot, kMemory}, "track", 2);
    canvas_.text(kLeft - 10, y_ + kMemory / 2 + 4, "mem", "small soft", Anchor::end);
    memory_.draw(canvas_, rank, {kLeft, y_, kPlot, kMemory});
    y_ += kMemory;
  }

  void legend() {
    double x = kLeft;
    const auto entry = [&](const std::string& style, const std::string& text, bool stripes, bool link = false) {
      const Box box{x, y_ + 2, link ? 20.0 : 16.0, 11};
      canvas_.rect(box, style, link ? box.height / 2 : 2);
      if (stripes) canvas_.rect(box, "stripes", 2);
      canvas_.text(x + box.width + 6, y_ + 12, text, "soft");
      x += box.width + 6 + 7.2 * columns_of(text) + 16;
    };
    for (const PaintName& paint : kPaints) {
      if (!seen_[static_cast<std::size_t>(paint.paint)]) continue;
      entry(is_shaded(paint.paint) ? "plain shaded" : "plain full", paint.name, is_striped(paint.paint),
            paint.paint >= Paint::collective);
    }
    if (!memory_.empty()) entry("memory", "memory", false);
    if (!memory_.empty() && peak_budget(kase_, totals_.peak_rank)) {
      canvas_.line(x, y_ + 8, x + 16, y_ + 8, "budget");
      canvas_.text(x + 22, y_ + 12, "its budget", "soft");
      x += 104;
    }
    canvas_.text(x, y_ + 12, meaning(), "soft");
    y_ += 28;
  }

  /// What numbers and colours stand for.
  std::string meaning() const {
    const std::string numbers = !numbered_ ? "" : run_.numbering == Numbering::micro_batch ? "micro-batches" : "layers";
    const std::string colours = run_.colouring == Colouring::none    ? ""
                                : run_.colouring == Colouring::stage ? "stages"
                                                                     : "layers";
    if (numbers == colours) return numbers.empty() ? "" : "numbers and colours: " + numbers;
    if (colours.empty()) return "numbers: " + numbers;
    return numbers.empty() ? "colours: " + colours : fmt::format("numbers: {} · colours: {}", numbers, colours);
  }

  std::vector<std::string> summary(int width) const {
    if (!figures_) return {};
    return summary_lines(kase_, totals_, Style(Colour::none, Charset::unicode), width, memory_.note());
  }

  std::string description() const {
    const auto ranks = kase_.traces.size();
    std::string text = fmt::format("Timeline of {} rank{} in virtual time.", ranks, ranks == 1 ? "" : "s");
    for (const std::string& line : summary(1000)) text += " " + line + ".";
    return text;
  }

  const grading::verdict::CaseVerdict& kase_;
  const std::string& title_;
  const bool figures_;
  RunBlocks run_;
  Totals totals_;
  SvgCanvas canvas_;
  double y_ = 18;
  SvgMemory memory_;
  std::array<bool, 16> seen_{};
  bool numbered_ = false;
  double last_drawn_ = 0, last_y_ = -1;
};

}  // namespace

std::string timeline_svg(const grading::verdict::CaseVerdict& kase, const std::string& title, bool figures) {
  return SvgTimeline(kase, title, figures).document();
}

}  // namespace shardlings::report

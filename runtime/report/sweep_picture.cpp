#include "report/sweep_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/text.h"
#include "report/summary.h"
#include "report/svg_canvas.h"
#include "report/sweep_text.h"

namespace shardlings::report {
namespace {

using simulation::SweepResult;

bool has_point(const SweepPage& page, std::size_t i) {
  return (*page.points)[i].refusal.empty() && (*page.results)[i].finished;
}

class SweepPicture {
 public:
  explicit SweepPicture(const SweepPage& page) : page_(page), frontier_(on_the_frontier(page)) {
    for (std::size_t i = 0; i < page.points->size(); ++i) {
      if (!has_point(page, i)) continue;
      shortest_ = std::min(shortest_, result(i).end);
      longest_ = std::max(longest_, result(i).end);
      top_ = std::max(top_, result(i).peak);
      capacity_ = (*page.points)[i].kase.capacity;
      fits_ = fits_ || result(i).fits;
    }
    constexpr double kBeyond = 1.25;
    if (capacity_ && fits_) top_ = std::min(top_, Bytes(static_cast<std::int64_t>(kBeyond * in_bytes(*capacity_))));
  }

  std::string svg() {
    add_axes();
    std::string line;
    for (const std::size_t i : frontier_) line += point(line.empty() ? 'M' : 'L', x_of(i), y_of(i));
    if (frontier_.size() > 1) canvas_.path(line, "edge");
    for (std::size_t i = 0; i < page_.points->size(); ++i) {
      if (has_point(page_, i)) add_point(i);
    }
    for (std::size_t n = 0; n < frontier_.size(); ++n) add_number(n);
    return canvas_.document(kWidth, kHeight, "Time against memory",
                            "The time of a step and the peak of the fullest rank, for each combination");
  }

 private:
  static constexpr double kWidth = 900, kHeight = 420, kLeft = 90, kRight = 120, kTop = 24, kBottom = 48;
  static constexpr double kRadius = 5;

  static double in_bytes(Bytes size) { return static_cast<double>(size.value()); }
  const SweepResult& result(std::size_t i) const { return (*page_.results)[i]; }

  double x_of(std::size_t i) const {
    const Nanos all = longest_ - shortest_;
    const double part = all > Nanos(0) ? (result(i).end - shortest_) / all : 0.5;
    return kLeft + 3 * kRadius + part * (kWidth - kLeft - kRight - 6 * kRadius);
  }
  double height_of(Bytes size) const {
    const double part = std::min(1.0, in_bytes(size) / std::max(1.0, in_bytes(top_)));
    return kHeight - kBottom - part * (kHeight - kTop - kBottom);
  }
  double y_of(std::size_t i) const { return height_of(result(i).peak); }

  void add_axes() {
    const double right = kWidth - kRight, bottom = kHeight - kBottom;
    canvas_.line(kLeft, bottom, right, bottom, "grid");
    canvas_.line(kLeft, kTop, kLeft, bottom, "grid");
    if (shortest_ <= longest_) {
      canvas_.text(kLeft + 3 * kRadius, bottom + 18, to_text(shortest_), "soft", SvgCanvas::Anchor::middle);
      canvas_.text(right - 3 * kRadius, bottom + 18, to_text(longest_), "soft", SvgCanvas::Anchor::middle);
    }
    canvas_.text((kLeft + right) / 2, kHeight - 8, "time of a step", "soft", SvgCanvas::Anchor::middle);
    canvas_.text(kLeft - 8, kTop + 4, brief(top_), "soft", SvgCanvas::Anchor::end);
    canvas_.text(kLeft - 8, bottom, "peak: 0", "soft", SvgCanvas::Anchor::end);
    if (!capacity_ || *capacity_ > top_) return;
    const double y = height_of(*capacity_);
    canvas_.line(kLeft, y, right, y, "budget");
    canvas_.text(right + 6, y + 4, fmt::format("device: {}", brief(*capacity_)), "small warn");
  }

  void add_point(std::size_t i) {
    canvas_.open_group(fmt::format("{}: {}, {}", combination_text(*page_.variables, (*page_.points)[i].values),
                                   to_text(result(i).end), brief(result(i).peak)));
    canvas_.rect({x_of(i) - kRadius, y_of(i) - kRadius, 2 * kRadius, 2 * kRadius},
                 !result(i).fits         ? "over full"
                 : result(i).on_frontier ? "h0 full"
                                         : "memory full",
                 kRadius);
    canvas_.close_group();
  }

  /// Beside its point, where nothing else of the line stands.
  void add_number(std::size_t n) {
    const std::string text = std::to_string(n + 1);
    const double width = 7.0 * static_cast<double>(text.size()), x = x_of(frontier_[n]), y = y_of(frontier_[n]);
    constexpr double kHigh = 11, kAway = 3;
    const std::array<SvgCanvas::Box, 4> places = {{{x + kAway, y - kRadius - kAway - kHigh, width, kHigh},
                                                   {x - kAway - width, y + kRadius + kAway, width, kHigh},
                                                   {x + kRadius + kAway, y - kHigh / 2, width, kHigh},
                                                   {x - kRadius - kAway - width, y - kHigh / 2, width, kHigh}}};
    const auto* free = std::find_if(places.begin(), places.end(), [&](const auto& box) { return is_free(box); });
    const SvgCanvas::Box& box = free == places.end() ? places.front() : *free;
    taken_.push_back(box);
    canvas_.text(box.x, box.y + kHigh - 2, text, "small ink");
  }

  bool is_free(const SvgCanvas::Box& box) const {
    const auto overlaps = [&](const SvgCanvas::Box& other) {
      return box.x < other.x + other.width && other.x < box.x + box.width && box.y < other.y + other.height &&
             other.y < box.y + box.height;
    };
    const auto hides = [&](std::size_t i) {
      return overlaps({x_of(i) - kRadius, y_of(i) - kRadius, 2 * kRadius, 2 * kRadius});
    };
    return std::none_of(taken_.begin(), taken_.end(), overlaps) &&
           std::none_of(frontier_.begin(), frontier_.end(), hides);
  }

  const SweepPage& page_;
  std::vector<std::size_t> frontier_;
  Nanos shortest_{std::numeric_limits<std::int64_t>::max()}, longest_;
  Bytes top_;
  std::optional<Bytes> capacity_;
  bool fits_ = false;
  SvgCanvas canvas_;
  std::vector<SvgCanvas::Box> taken_;
};

}  // namespace

std::vector<std::size_t> on_the_frontier(const SweepPage& page) {
  std::vector<std::size_t> line;
  for (std::size_t i = 0; i < page.points->size(); ++i) {
    if (has_point(page, i) && (*page.results)[i].on_frontier) line.push_back(i);
  }
  std::sort(line.begin(), line.end(),
            [&](std::size_t a, std::size_t b) { return (*page.results)[a].end < (*page.results)[b].end; });
  return line;
}

std::string sweep_picture(const SweepPage& page) {
  return SweepPicture(page).svg();
}

}  // namespace shardlings::report

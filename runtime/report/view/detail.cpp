#include "report/view/detail.h"

#include <algorithm>

namespace shardlings::report {
namespace {

/// What happens in the bin at hand: few different things.
class Bin {
 public:
  void add(const Mark& mark, std::int64_t time) {
    const auto found = std::find_if(shares_.begin(), shares_.end(), [&](const Share& share) {
      return share.paint == mark.paint && share.hue == mark.hue;
    });
    if (found == shares_.end()) {
      shares_.push_back({mark.paint, mark.hue, time});
    } else {
      found->time += time;
    }
    covered_ += time;
  }
  bool empty() const { return shares_.empty(); }
  Segment segment(int bin, std::int64_t width) const {
    const auto most = std::max_element(shares_.begin(), shares_.end(),
                                       [](const Share& a, const Share& b) { return a.time < b.time; });
    const std::int64_t cover = (std::min(covered_, width) * kFullCover + width / 2) / width;
    return {bin, 1, most->paint, most->hue, static_cast<int>(std::max<std::int64_t>(1, cover))};
  }
  void clear() {
    shares_.clear();
    covered_ = 0;
  }

 private:
  struct Share {
    Paint paint;
    int hue;
    std::int64_t time;
  };
  std::vector<Share> shares_;
  std::int64_t covered_ = 0;
};

void append(const Segment& segment, std::vector<Segment>& segments) {
  if (!segments.empty()) {
    Segment& last = segments.back();
    if (last.begin + last.length == segment.begin && last.paint == segment.paint && last.hue == segment.hue &&
        last.cover == segment.cover) {
      ++last.length;
      return;
    }
  }
  segments.push_back(segment);
}

}  // namespace

std::vector<Segment> segments_of(const std::vector<Mark>& marks, std::int64_t end, int bins) {
  std::vector<Segment> segments;
  if (end <= 0) return segments;
  // Times are scaled by the number of bins, so that a bin is `end` wide and everything stays whole.
  Bin bin;
  std::vector<const Mark*> open;  // those that may reach into the bin at hand
  std::size_t next = 0;
  for (int b = 0; b < bins; ++b) {
    const std::int64_t from = b * end, to = from + end;
    for (; next < marks.size() && marks[next].begin * bins < to; ++next) {
      if (marks[next].paint != Paint::idle && marks[next].end > marks[next].begin) open.push_back(&marks[next]);
    }
    bin.clear();
    for (const Mark* mark : open) {
      const std::int64_t time = std::min(mark->end * bins, to) - std::max(mark->begin * bins, from);
      if (time > 0) bin.add(*mark, time);
    }
    std::erase_if(open, [&](const Mark* mark) { return mark->end * bins <= to; });
    if (!bin.empty()) append(bin.segment(b, end), segments);
  }
  return segments;
}

std::vector<int> levels_for(std::size_t marks) {
  constexpr int kCoarsest = 1024;  // about as many columns as a small window has
  std::vector<int> levels;
  for (int bins = kCoarsest; 2 * static_cast<std::size_t>(bins) <= marks; bins *= 2) levels.push_back(bins);
  return levels;
}

}  // namespace shardlings::report

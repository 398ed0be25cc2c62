#include "report/svg_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/summary.h"
#include "report/totals.h"

namespace shardlings::report {
namespace {

using Box = SvgCanvas::Box;

constexpr int kCurveSamples = 1000;
constexpr double kEdge = 3;  // the lowest value stands a little above the ground, the highest below the top

double x_of(std::size_t column, const Box& box) {
  return box.x + box.width * static_cast<double>(column) / kCurveSamples;
}

}  // namespace

SvgMemory::SvgMemory(const grading::verdict::CaseVerdict& kase, Nanos end) : kase_(kase) {
  std::optional<std::int64_t> lowest;
  for (std::size_t rank = 0; rank < kase.traces.size(); ++rank) {
    curves_.push_back(memory_curve(kase.traces[rank], end, kCurveSamples));
    for (const std::int64_t bytes : curves_.back()) {
      lowest = std::min(lowest.value_or(bytes), bytes);
      highest_ = std::max(highest_, bytes);
    }
    const auto budget = peak_budget(kase, static_cast<int>(rank));
    if (budget && (!budget_ || *budget > *budget_)) budget_ = budget;
  }
  lowest_ = lowest.value_or(0);
  top_ = std::max(highest_, budget_.value_or(Bytes(0)).value());
  if (!lowest || lowest_ == highest_) curves_.clear();
}

double SvgMemory::y_of(std::int64_t bytes, const Box& box) const {
  const double share =
      static_cast<double>(bytes - lowest_) / static_cast<double>(std::max<std::int64_t>(1, top_ - lowest_));
  return box.y + box.height - kEdge - (box.height - 2 * kEdge) * share;
}

/// The upper edge of the columns [begin, end), as path data.
std::string SvgMemory::steps(const std::vector<std::int64_t>& curve, std::size_t begin, std::size_t end, char first,
                             const Box& box) const {
  std::string data = point(first, x_of(begin, box), y_of(curve[begin], box));
  for (std::size_t c = begin + 1; c < end; ++c) {
    if (curve[c] == curve[c - 1]) continue;
    data += point('L', x_of(c, box), y_of(curve[c - 1], box)) + point('L', x_of(c, box), y_of(curve[c], box));
  }
  return data + point('L', x_of(end, box), y_of(curve[end - 1], box));
}

void SvgMemory::draw(SvgCanvas& canvas, int rank, const Box& box) const {
  const auto& curve = curves_.at(static_cast<std::size_t>(rank));
  if (curve.empty()) return;
  const double ground = box.y + box.height, right = box.x + box.width;
  canvas.path(point('M', box.x, ground) + steps(curve, 0, curve.size(), 'L', box) + point('L', right, ground) + "Z",
              "memory");
  const auto budget = peak_budget(kase_, rank);
  if (budget) too_much(canvas, curve, budget->value(), box);
  canvas.path(steps(curve, 0, curve.size(), 'M', box), "edge");
  if (!budget) return;
  const double line = y_of(budget->value(), box);
  canvas.line(box.x, line, right, line, "budget");
}

void SvgMemory::too_much(SvgCanvas& canvas, const std::vector<std::int64_t>& curve, std::int64_t budget,
                         const Box& box) const {
  const double line = y_of(budget, box);
  for (std::size_t begin = 0, end = 0; begin < curve.size(); begin = std::max(end, begin + 1)) {
    for (end = begin; end < curve.size() && curve[end] > budget;) ++end;
    if (end == begin) continue;
    canvas.path(point('M', x_of(begin, box), line) + steps(curve, begin, end, 'L', box) +
                    point('L', x_of(end, box), line) + "Z",
                "over");
  }
}

std::string SvgMemory::text(int rank) const {
  return empty() ? "" : fmt::format("{}", fmt::join(curves_.at(static_cast<std::size_t>(rank)), " "));
}

std::string SvgMemory::note() const {
  if (empty()) return "";
  return fmt::format("memory from {} to {}{}", brief(Bytes(lowest_)), brief(Bytes(highest_)),
                     budget_ ? ", budget " + brief(*budget_) : "");
}

}  // namespace shardlings::report

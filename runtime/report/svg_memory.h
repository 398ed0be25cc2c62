/// \file
/// Memory over time in an SVG picture: an area under the line of its budget.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grading/verdict/verdict.h"
#include "report/svg_canvas.h"

namespace shardlings::report {

/// The memory of all ranks on one scale, from the lowest value of any of them to the highest peak or budget.
class SvgMemory {
 public:
  SvgMemory(const grading::verdict::CaseVerdict& kase, Nanos end);

  /// Nothing was recorded, or nothing changes: there is nothing to draw.
  bool empty() const { return curves_.empty(); }
  void draw(SvgCanvas& canvas, int rank, const SvgCanvas::Box& box) const;
  /// The rank's curve, to be compared with others.
  std::string text(int rank) const;
  /// What the scale is; empty if nothing is drawn.
  std::string note() const;

 private:
  double y_of(std::int64_t bytes, const SvgCanvas::Box& box) const;
  std::string steps(const std::vector<std::int64_t>& curve, std::size_t begin, std::size_t end, char first,
                    const SvgCanvas::Box& box) const;
  void too_much(SvgCanvas& canvas, const std::vector<std::int64_t>& curve, std::int64_t budget,
                const SvgCanvas::Box& box) const;

  const grading::verdict::CaseVerdict& kase_;
  std::vector<std::vector<std::int64_t>> curves_;  // by rank
  std::int64_t lowest_ = 0, highest_ = 0, top_ = 1;
  std::optional<Bytes> budget_;  // the highest of any rank
};

}  // namespace shardlings::report

/// \file
/// Where a rank's program stood still, for the line of a report that says where to look.
#pragma once

#include <functional>
#include <vector>

#include "grading/judge/grader.h"

namespace shardlings::grading::formulas {

/// A source line and the time that belongs to it.
struct Standstill {
  wire::Place place;
  Nanos time;
};

/// The line at which the rank waited longest, all waits together that began in [from, to]. No time and no place if it
/// never did.
Standstill longest_standstill(const judge::CheckContext& check, int rank, Nanos from, Nanos to);

/// The source line to which the largest sum of `weight` over its events belongs; nowhere if all sums are 0.
wire::Place heaviest_line(const std::vector<front::Event>& events,
                          const std::function<std::int64_t(const front::Event&)>& weight);

}  // namespace shardlings::grading::formulas

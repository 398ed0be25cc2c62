/// \file
/// A run in a few numbers, and its memory over time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grading/verdict/verdict.h"

namespace shardlings::report {

/// A run in a few numbers.
struct Totals {
  Nanos end;
  double idle = 0;        ///< share of the ranks' time until `end` in which they did not compute
  bool computes = false;  ///< some rank did, for some time
  Nanos transfer;         ///< of all ranks, whatever the programs did meanwhile
  Nanos overlapped;       ///< of it, while the programs computed
  Bytes peak;
  int peak_rank = 0;
  int slowest_rank = 0;  ///< ends last; the first of them
  std::string peak_file;
  int peak_line = 0;
  Bytes sent;          ///< by all ranks
  Bytes sent_by_most;  ///< by the rank that sent most
  bool sent_equal = true;
};
Totals totals_of(const std::vector<front::Counters>& counters);

/// When the slowest rank would have ended if it had waited for all transfer that went on while it computed, and for
/// everything on the way to the host's memory and on the host that it has not waited for.
Nanos end_without_overlap(const std::vector<front::Counters>& counters);

/// The most device memory that was alive within each column, in bytes; 0 columns if nothing was recorded.
std::vector<std::int64_t> memory_curve(const front::RankTrace& trace, Nanos end, int columns);

/// What a rank's peak may be at most by the checks of this case; nothing if none says so.
std::optional<Bytes> peak_budget(const grading::verdict::CaseVerdict& kase, int rank);

}  // namespace shardlings::report

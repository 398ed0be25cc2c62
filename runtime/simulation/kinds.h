/// \file
/// Thousands of ranks go through the same a few ways: kinds of ranks, and what a run of many comes to.
#pragma once

#include <string>
#include <vector>

#include "case/case.h"
#include "front/trace/run_report.h"

namespace shardlings::simulation {

/// Ranks whose counters are equal.
struct KindOfRanks {
  std::vector<int> ranks;  ///< in order
  const front::Counters* counters = nullptr;
};

/// The kinds of a run, in the order of their first ranks. The counters are the report's.
std::vector<KindOfRanks> kinds_of(const front::RunReport& report);

/// Where the ranks' time goes, as parts of ranks x end of the last one.
struct TimeShares {
  double computing = 0;
  double waiting_for_peers = 0;
  double exposed_transfer = 0;
  double waiting_for_host = 0;
  double waiting_for_store = 0;
  double after_the_end = 0;  ///< a rank is done before the last one
};

struct Summary {
  Nanos end;  ///< of the last rank
  TimeShares time;
  double flops = 0;               ///< of all ranks together
  double peak_part = 0;           ///< of what all devices could have done in their precision until then
  double tokens = 0;              ///< of all steps
  std::int64_t operations = 0;    ///< and messages and collectives, of all ranks
  int fullest = 0, emptiest = 0;  ///< ranks
};

/// As --precision has it.
std::string precision_word(const front::Cluster& cluster);
/// "mixed precision".
std::string precision_text(const front::Cluster& cluster);
/// The name of the software stack that the case's blocks are run by: "ours" without one.
std::string stack_of(const cases::Case& kase);

Summary summary_of(const cases::Case& kase, const front::RunReport& report);

}  // namespace shardlings::simulation

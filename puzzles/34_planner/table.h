// What the cases of puzzle 34 say: the job, and the layouts that were simulated, for harness and grader alike.
// `Case` is cases::Case, which no header of a puzzle includes.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "shardlings/planner.h"

namespace shardlings {

inline constexpr double kGib = 1024.0 * 1024 * 1024;
/// So much of a GPU's memory the plan may take: what is left covers what the formulas leave out.
inline constexpr double kUsable = 0.99;

/// A column of a case's table, which has as many rows as `as_long_as`.
template <class Case>
const std::vector<double>& column(const Case& kase, const std::string& name, const std::string& as_long_as) {
  const std::vector<double>& numbers = kase.list(name);
  if (numbers.size() != kase.list(as_long_as).size() || numbers.empty()) {
    throw std::runtime_error("puzzle.toml: in the case '" + kase.name + "' " + name + " is not as long as " +
                             as_long_as);
  }
  return numbers;
}

template <class Case>
std::vector<BlockProfile> profile_in(const Case& kase) {
  const auto of = [&](const char* name) -> const std::vector<double>& { return column(kase, name, "profile_tp"); };
  std::vector<BlockProfile> rows;
  for (std::size_t i = 0; i < of("profile_tp").size(); ++i) {
    rows.push_back({static_cast<int>(of("profile_tp")[i]), static_cast<Count>(of("profile_batch")[i]),
                    static_cast<Recomputed>(static_cast<int>(of("profile_recomputed")[i])), of("block_seconds")[i],
                    of("head_seconds")[i], kGib * of("kept_gib")[i], kGib * of("once_gib")[i]});
  }
  return rows;
}

template <class Case>
PlannedJob job_of(const Case& kase) {
  const Count h = kase.integer("hidden");
  PlannedJob job;
  job.layers = kase.integer("layers");
  job.block_weights = 12 * h * h + 13 * h;
  job.table_weights = kase.integer("vocabulary") * h;
  job.sequences = kase.integer("sequences");
  job.gpus = static_cast<int>(kase.integer("gpus"));
  job.node = static_cast<int>(kase.integer("node"));
  job.memory = kUsable * kGib * kase.number("memory_gib");
  job.node_bandwidth = kase.number("node_bandwidth");
  job.port_bandwidth = kase.number("port_bandwidth");
  job.update_seconds = kase.number("update_seconds");
  job.profile = profile_in(kase);
  return job;
}

/// A layout whose step was simulated.
struct SimulatedLayout {
  Layout layout;
  double seconds = 0;
  double bytes = 0;  ///< at the peak of the fullest rank
};

template <class Case>
std::vector<SimulatedLayout> simulated(const Case& kase) {
  const auto of = [&](const char* name) -> const std::vector<double>& { return column(kase, name, "tp"); };
  const int gpus = static_cast<int>(kase.integer("gpus"));
  std::vector<SimulatedLayout> rows;
  for (std::size_t i = 0; i < of("tp").size(); ++i) {
    Layout layout;
    layout.tp = static_cast<int>(of("tp")[i]);
    layout.pp = static_cast<int>(of("pp")[i]);
    layout.chunks = static_cast<int>(of("chunks")[i]);
    layout.dp = gpus / (layout.tp * layout.pp);
    layout.batch = static_cast<Count>(of("batch")[i]);
    layout.recomputed = static_cast<Recomputed>(static_cast<int>(of("recomputed")[i]));
    rows.push_back({layout, of("seconds")[i], kGib * of("gib")[i]});
  }
  return rows;
}

}  // namespace shardlings

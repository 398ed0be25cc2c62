/// \file
/// What of a simulation is left as a picture, a trace, or a run for `view`.
#pragma once

#include <string>
#include <vector>

#include "case/manifest.h"
#include "cli/context.h"
#include "grading/run/supervisor.h"

namespace shardlings::cli::verbs {

/// Files to write; empty: none.
struct PictureOptions {
  std::string ranks;  ///< "0,8,16-19": those that leave a trace; empty: up to eight that one replica is spread over
  std::string svg;
  std::string trace;    ///< for the Perfetto viewer
  std::string to_file;  ///< for view --run

  bool any() const { return !svg.empty() || !trace.empty() || !to_file.empty(); }
};

/// The ranks that leave a trace, in order. Throws UsageError for what names no rank of the case.
std::vector<int> ranks_shown(const PictureOptions& options, const cases::Case& kase);

void write_pictures(const Context& context, const PictureOptions& options, const cases::Manifest& puzzle,
                    const cases::Case& simulated, const wire::Result& result);

}  // namespace shardlings::cli::verbs

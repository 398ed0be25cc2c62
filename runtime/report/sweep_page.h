/// \file
/// A sweep as one page for a browser: a heat map of times, time against memory, and every combination in a table.
#pragma once

#include <string>
#include <vector>

#include "simulation/sweep.h"

namespace shardlings::report {

/// What a page is made of.
struct SweepPage {
  std::string title;     ///< "33 Three dimensions"
  std::string subtitle;  ///< whose program, on which cluster
  const std::vector<simulation::SweepVariable>* variables = nullptr;
  const std::vector<simulation::SweepPoint>* points = nullptr;
  const std::vector<simulation::SweepResult>* results = nullptr;
  int fastest = -1;  ///< index of the fastest that fits; -1: none does
};

/// The HTML: nothing to be fetched, nothing that runs. Rows of a heat map are the first variable, columns the second;
/// each combination of the others has a map of its own.
std::string sweep_page(const SweepPage& page);

}  // namespace shardlings::report

/// \file
/// A rank's device memory over time as a row of text, with the line of its budget above it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/style.h"

namespace shardlings::report {

/// From `low` (the lowest step) to `high` (a full cell), in bytes. Weights alone would fill most of a scale that
/// begins at 0.
struct MemoryScale {
  std::int64_t low = 0;
  std::int64_t high = 1;
};

/// One row; `curve` has the most bytes of each column. Columns above `budget` stand out.
std::string memory_strip(const std::vector<std::int64_t>& curve, MemoryScale scale, std::optional<std::int64_t> budget,
                         const Style& style);

/// The row above it where `scale.high` is the budget: the budget's line, and what rises above it.
std::string budget_line(const std::vector<std::int64_t>& curve, MemoryScale scale, const Style& style);

}  // namespace shardlings::report

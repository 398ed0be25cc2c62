/// \file
/// In what a bounded number is measured.
#pragma once

#include <cstdint>
#include <string>

#include "base/units.h"
#include "shardlings/tensor.h"

namespace shardlings::grading::verdict {

/// Of a plain count, a word beside it says what is counted: "calls", "micro-batches".
enum class Unit : std::uint8_t { bytes, ns, flops, count };

/// \name The unit of a type
/// @{
constexpr Unit unit_of(Bytes) {
  return Unit::bytes;
}
constexpr Unit unit_of(Nanos) {
  return Unit::ns;
}
constexpr Unit unit_of(Flops) {
  return Unit::flops;
}
constexpr Unit unit_of(Count) {
  return Unit::count;
}
/// @}

/// As results and reports write it: "bytes", "ns", "floating-point operations", or what is counted.
std::string name_of(Unit unit, const std::string& counted);
/// Unit::count for any other name than those of the other units.
Unit unit_named(const std::string& name);

/// "1.5 KiB (1536 B)", "1.25 ms", "3 calls", "1 call"; "3" where nothing is counted.
std::string amount_text(std::int64_t amount, Unit unit, const std::string& counted);

}  // namespace shardlings::grading::verdict

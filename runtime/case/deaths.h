/// \file
/// Ranks that die, as a puzzle's manifest says it.
#pragma once

#include "case/case.h"

namespace shardlings {
class TomlSection;
}  // namespace shardlings

namespace shardlings::cases {

/// Reads `deaths` and `detection_ms` of a case whose ranks are known. Throws std::runtime_error naming the key at
/// fault.
void read_deaths(TomlSection& section, Case& kase);

}  // namespace shardlings::cases

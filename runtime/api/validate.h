/// \file
/// Whether a call fits the table of verbs. What it is about is not looked at here: whether a tensor is alive, a group
/// has this rank as a member and shapes fit is for those who know.
#pragma once

#include <optional>
#include <string>

#include "api/call.h"

namespace shardlings::detail {

/// Numbers are not larger than this, and not smaller than its negative: two of them can be added.
inline constexpr std::int64_t kMostNumber = std::int64_t{1} << 61;

/// Why nobody can handle the call, "trans is 7, but Trans has 4 values"; nothing if it fits. Afterwards its verb is one
/// of the table, counts and enumerations are in their ranges, what an int holds fits one, and no offset, extent or
/// number of elements overflows.
std::optional<std::string> validate(const Call& call);

}  // namespace shardlings::detail

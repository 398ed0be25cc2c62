/// \file
/// Errors of calls that are found on this side of the cut: before, or without, a Call.
#pragma once

#include <string>

#include "shardlings/error.h"

namespace shardlings::detail {

/// Throws InvalidArgument with "puzzle.cpp:31: " before the sentence. Where this thread runs a rank's code, the other
/// side hears of it, too, and answers all later calls so.
[[noreturn]] void throw_invalid(const std::string& sentence, Location at);

}  // namespace shardlings::detail

/// \file
/// Errors of calls that are found on this side of the cut: before, or without, a Call.
#pragma once

#include <string>

#include "base/text.h"
#include "shardlings/error.h"

namespace shardlings::detail {

/// Throws InvalidArgument with "puzzle.cpp:31: " before the sentence.
[[noreturn]] inline void throw_invalid(const std::string& sentence, Location at) {
  throw InvalidArgument((to_text(at) + ": " + sentence).c_str(), at);
}

}  // namespace shardlings::detail

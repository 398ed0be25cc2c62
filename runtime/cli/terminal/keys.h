/// \file
/// Keys that a terminal sends, as numbers.
#pragma once

#include <string_view>
#include <vector>

namespace shardlings::cli::terminal {

/// Keys that are no character. A character is its own number, letters in lower case.
enum Key : int { kEscape = 27, kUp = 256, kDown, kPageUp, kPageDown, kHome, kEnd };

/// The keys in what was read from a terminal, in their order; sequences of other keys are left out.
std::vector<int> keys_in(std::string_view bytes);

}  // namespace shardlings::cli::terminal

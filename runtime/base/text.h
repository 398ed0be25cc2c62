/// \file
/// Small pieces of text that messages have in common.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "shardlings/location.h"
#include "shardlings/tensor.h"

namespace shardlings {

/// Without white space at its ends.
std::string trimmed(std::string_view text);
/// Its lines, without their ends.
std::vector<std::string> lines_of(std::string_view text);
/// In single quotes, as a shell wants it to be one word, whatever it holds.
std::string quoted_for_shell(std::string_view text);
/// The last component of a path.
std::string_view base_name(std::string_view path);
/// How long "puzzle.cpp:31:5: " is where a line of a compiler begins so; 0 if it does not.
std::size_t length_of_place(std::string_view line);
/// "puzzle.cpp:31"; "somewhere" for an empty location.
std::string to_text(Location at);
/// "(4, 8)".
std::string to_text(const Shape& shape);
/// "96 B", "1.5 KiB (1536 B)": short, and exact where it was rounded.
std::string to_text(Bytes size);
/// "1.25 ms", "300 ns".
std::string to_text(Nanos time);
/// "0, 1, 3" or, for four and more in a row, "0-3, 5".
std::string list_of_ranks(const std::vector<int>& ranks);
/// "rank 2" or "ranks 0, 1, 3"; of a list that would be lines long the first ones: "ranks 0, 8, 16 and 509 more".
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace shardlings

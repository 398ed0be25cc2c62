/// \file
/// Columns of whole numbers as text: the differences of neighbours, runs of the same one written once. For files that
/// are kept under version control: a regular column is a few words, and a changed one is a changed line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardlings::grading::verdict {

/// {0, 0, 1000, 2000, 3000} is "0*2 1000*3".
std::string to_column(const std::vector<std::int64_t>& values);
/// Reads what to_column() wrote. Throws std::runtime_error unless it is a column of exactly `count` numbers.
std::vector<std::int64_t> from_column(std::string_view text, std::size_t count);

}  // namespace shardlings::grading::verdict

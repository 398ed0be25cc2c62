/// \file
/// What to do instead of including a header that is not for puzzles.
#pragma once

#include <string>
#include <string_view>

namespace shardlings::grading::build {

/// A sentence or two for "thread" or "helper.h", the header's name without brackets; `quoted` if it stood in quotes.
std::string instead_of_header(std::string_view name, bool quoted);

}  // namespace shardlings::grading::build

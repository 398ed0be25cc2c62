/// \file
/// Words for what is refused most often. It is no list of what is refused: that is all that allowed_symbols.h lacks.
#pragma once

#include <string_view>

namespace shardlings::grading::build {

/// What a symbol of the library is about, "threads and locks"; nullptr for one that nobody has words for.
const char* subject_of(std::string_view name);

}  // namespace shardlings::grading::build

/// \file
/// What a puzzle's object may take from elsewhere: the public API, and what honest code needs of the library.
#pragma once

#include <string_view>

#include "grading/build/mangled_name.h"

namespace shardlings::grading::build {

/// A class, a function or an operator that the public headers declare in namespace shardlings.
bool is_public_name(std::string_view name);

/// A function of cmath, as C names it: "sqrtf".
bool is_math(std::string_view name);

/// A symbol that an object may leave undefined: the public API's, or one of the C and C++ library's that only computes,
/// allocates, throws or prints.
bool may_use(std::string_view symbol, const MangledName& name);

}  // namespace shardlings::grading::build

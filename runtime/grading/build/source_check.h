/// \file
/// What a puzzle's source may say: which lines that begin with '#', and which names.
///
/// This is the wall that can name a line. Where it were fooled, the others still stand: what the compiler has read
/// (include_check.h), what it may read (compile_sandbox.h), and what is in the object (object_check.h).
#pragma once

#include <string>

namespace shardlings::grading::build {

/// Empty if the source is in order, else a sentence with file and line: what there is, and what to do.
///
/// Refused are headers that are not for puzzles; all directives but include, define, undef, conditions, error, warning
/// and pragma once; "##"; names that belong to the compiler (with two underscores, or a capital behind the first), to
/// its attributes, or to the runtime's inside; macros in the place of keywords or above a header of the runtime's.
std::string check_source(const std::string& source, const std::string& file);

}  // namespace shardlings::grading::build

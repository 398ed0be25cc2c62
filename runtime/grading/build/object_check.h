/// \file
/// What a puzzle's object file may consist of: allow-lists of its sections, symbols and relocations.
#pragma once

#include <set>
#include <string>

#include "grading/build/object_file.h"
#include "grading/build/source_copy.h"

namespace shardlings::grading::build {

/// Empty if the object is in order, else a sentence that says what is wrong and what to do. `source` is what was
/// compiled: it tells the line.
///
/// It is code, constants and what the compiler adds to them. Writable static data are not among that: they are shared
/// by all ranks, which run as threads of one process: the cheapest way around communication, and wrong on real
/// machines. Nothing runs before main() but the preparation of iostream. symbol_check.h has the symbols.
/// `offered`: symbols that the puzzle's harness defines for it.
std::string check_object(const ObjectFile& object, const SourceCopy& source, const std::set<std::string>& offered = {});

}  // namespace shardlings::grading::build

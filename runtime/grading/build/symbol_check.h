/// \file
/// Which symbols a puzzle's object may take from elsewhere, and which it may define.
#pragma once

#include <set>
#include <string>

#include "grading/build/object_file.h"
#include "grading/build/source_copy.h"

namespace shardlings::grading::build {

/// What a harness defines for a learner's code to call: plain functions outside of all namespaces.
std::set<std::string> offered_functions(const ObjectFile& harness);

/// Empty, or a sentence on the first symbol that is taken from elsewhere, is not `offered` and is not allowed
/// (allowed_symbols.h).
std::string check_used_symbols(const ObjectFile& object, const std::set<std::string>& offered,
                               const SourceCopy& source);

/// Empty, or a sentence on the first definition that would take the place of the runtime's, of the library's, or of
/// main(). Templates and inline functions of the library and of the public headers are defined in each object that
/// uses them: as weak symbols, which is the only form they may have.
std::string check_defined_symbols(const ObjectFile& object, const SourceCopy& source);

}  // namespace shardlings::grading::build

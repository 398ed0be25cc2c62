/// \file
/// Where in a source a name stands that only the object file has told of.
#pragma once

#include <string>
#include <string_view>

#include "grading/build/source_copy.h"

namespace shardlings::grading::build {

/// "f(int)::calls" without the parameters and what stands before the last "::": "calls".
std::string last_part(std::string_view demangled);

/// "puzzle.cpp:12", the line where the static variable of that demangled name is declared. Only "puzzle.cpp" where that
/// is not certain, as for one that a macro declares, or for two of the same name.
std::string place_of_variable(const SourceCopy& source, std::string_view demangled);

/// Likewise the first line that uses this function or object of the library.
std::string place_of_use(const SourceCopy& source, std::string_view demangled);

/// "puzzle.cpp:12", the first line that instantiates a template of the library as a whole (`template class
/// std::vector<int>;`); empty if none does.
std::string place_of_instantiation(const SourceCopy& source);

}  // namespace shardlings::grading::build

/// \file
/// What the compiler hands to the assembler: nothing that was not the compiler's own.
#pragma once

#include <string>

namespace shardlings::grading::build {

/// Empty if the text is what a compiler makes of C++, else a sentence. Refused are inline assembly (which compilers
/// mark), directives that read files or write code of their own, and instructions that ask the system or a clock.
std::string check_assembly(const std::string& assembly, const std::string& file);

}  // namespace shardlings::grading::build

/// \file
/// The rules of the architecture as functions of sources, so that each can be shown to find what it is there for.
#pragma once

#include <string>
#include <vector>

#include "architecture/tree.h"

namespace shardlings::architecture {

/// Who may include whom (docs/architecture.md has the picture).
std::vector<Violation> check_layers(const Source& source);
/// The folders below `root` ("runtime/front/") do not include one another in a circle. Of several circles one is told,
/// an include for each of its arrows; what lies in `root` itself is the folder ".".
std::vector<Violation> check_cycles(const std::vector<Source>& sources, const std::string& root);
/// Headers of CUDA, MPI, NCCL and BLAS, and conditions on them, stay below back/<part>/<implementation>/.
std::vector<Violation> check_backends(const Source& source);
/// At most 400 lines to a file and 80 to a function.
std::vector<Violation> check_sizes(const Source& source);
/// `#pragma once` and a `\file` comment in every header.
std::vector<Violation> check_header(const Source& source);
/// In the runtime mutexes are those of base/mutex.h, whose use clang proves.
std::vector<Violation> check_mutexes(const Source& source);
/// What a using-declaration names is used, and called by that name from there on.
std::vector<Violation> check_usings(const Source& source);
/// No test is switched off.
std::vector<Violation> check_test(const Source& source);
/// Links of a Markdown text lead to files and headings that exist; so do paths in `code`.
std::vector<Violation> check_links(const Source& source);

}  // namespace shardlings::architecture

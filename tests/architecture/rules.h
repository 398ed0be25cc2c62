/// \file
/// The rules of the architecture as functions of sources, so that each can be shown to find what it is there for.
#pragma once

#include <string>
#include <vector>

#include "architecture/tree.h"

namespace shardlings::architecture {

/// Who may include whom (docs/architecture.md has the picture). Below runtime/ every file has a rule.
std::vector<Violation> check_layers(const Source& source);
/// Beginnings of what the files below `folder` ("runtime/case/") may include, apart from the public headers and
/// themselves.
std::vector<std::string> allowed_below(const std::string& folder);
/// The sentence "It may use …" of a folder's README.md: its names in `code` are what check_layers() allows the folder,
/// no more and no less. "`a/{b,c}.h`" is two names.
std::vector<Violation> check_may_use(const Source& readme);
/// The folders below `root` ("runtime/front/") do not include one another in a circle. Of several circles one is told,
/// an include for each of its arrows. Of what lies in `root` itself a header and its .cpp are as a folder, but that
/// circles of such files alone are allowed.
std::vector<Violation> check_cycles(const std::vector<Source>& sources, const std::string& root);
/// The page of runtime/grading/formulas has one row for each of its headers, "| number | `function` | `header` |", with
/// functions that the header declares; what can judge stands under "Files that judge".
std::vector<Violation> check_formulas(const Source& page, const std::vector<Source>& headers);
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

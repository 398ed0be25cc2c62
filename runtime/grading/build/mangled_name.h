/// \file
/// What a mangled name of C++ belongs to: namespaces and classes, from the outside in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shardlings::grading::build {

struct MangledName {
  bool is_cpp = false;  ///< it begins with _Z
  /// What stands behind _Z of things that the compiler makes: "TV", "TI", "TS", "TT" of tables and types, "GV", "GR";
  /// else empty. Thunks and functions around local things count as what they belong to.
  std::string table;
  /// {"std", "__cxx11", "basic_string"}; operators as the two letters that they are mangled with. Empty for names that
  /// begin with a template parameter, a built-in type or anything else that has no name. "?" stands for the rest of
  /// one that is not understood.
  std::vector<std::string> parts;
};

/// Reads as far as there are plain names; arguments of templates and parameters of functions say nothing here.
MangledName read_mangled(std::string_view name);

}  // namespace shardlings::grading::build

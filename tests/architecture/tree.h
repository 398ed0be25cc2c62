/// \file
/// The project's own sources as the architecture tests see them.
#pragma once

#include <string>
#include <vector>

#include "base/text.h"

namespace shardlings::architecture {

struct Source {
  std::string path;  ///< from the project's folder: "runtime/world/world.cpp"
  std::string text;
};

/// What breaks a rule, and where.
struct Violation {
  std::string path;
  int line = 0;
  std::string rule;
  bool operator==(const Violation&) const = default;
};

/// "runtime/world/world.cpp:12: rule", a line each.
std::string to_text(const std::vector<Violation>& violations);

/// All files below `folder` (from the project's folder; "." for those of the top alone) whose names end with one of the
/// endings, sorted by path.
std::vector<Source> sources(const std::string& folder, const std::vector<std::string>& endings);

/// The same text with comments, strings, characters and preprocessor lines blanked out; line numbers stay.
std::string code_of(const std::string& text);

struct Include {
  std::string name;
  bool quoted = false;  ///< "name", not <name>
  int line = 0;
};
std::vector<Include> includes_of(const std::string& text);

/// The whole file.
std::string file_text(const std::string& path);
bool starts_with(const std::string& text, const std::string& prefix);
bool ends_with(const std::string& text, const std::string& suffix);

/// The project's folder, absolute.
std::string project_folder();

/// How a program ended; both of its streams.
struct ProgramRun {
  int status = -1;
  std::string output;
};
/// Runs a command of the shell.
ProgramRun run(const std::string& command);
/// Runs a compiler with the project's include folders.
ProgramRun compile(const std::string& arguments);

}  // namespace shardlings::architecture

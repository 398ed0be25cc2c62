/// \file
/// The last run of each puzzle and the one before it, kept so that they can be looked at. Both are links to what
/// grading wrote, below `runs/<id>` of the build folder.
#pragma once

#include <optional>
#include <string>

#include "grading/verdict/verdict.h"

namespace shardlings::grading::verdict {

enum class KeptRun { last, previous };

/// The name of the graded file's text in the folder of its grading.
inline constexpr const char* kKeptSource = "source.cpp";

/// Makes what lies in `graded` (verdict.json, the source and, if it was run, traces.bin) the last run, and the last one
/// the previous. The same content again changes nothing. Throws std::runtime_error where the build folder cannot be
/// written.
void keep_run(const std::string& build_folder, const std::string& puzzle, const std::string& graded);

/// The puzzle that was kept last, even if its run was the same again; empty if there is none.
std::string last_puzzle(const std::string& build_folder);

/// With its traces; nothing if there is none. Throws std::runtime_error if its files are damaged.
std::optional<Verdict> load_run(const std::string& build_folder, const std::string& puzzle, KeptRun which);

/// The text of the file that the kept run is of; empty where it was not kept.
std::string source_of_run(const std::string& build_folder, const std::string& puzzle, KeptRun which);

}  // namespace shardlings::grading::verdict

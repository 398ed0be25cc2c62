/// \file
/// The submission process: one case in, one result out. Linked as main.o + harness.o + puzzle.o + libshardlings.
#pragma once

#include "submission/harness.h"

namespace shardlings::submission {

using HarnessFunction = void (*)(Harness&);

/// In place of a file's descriptor: many cases, for which there are several processes (crew.h).
inline constexpr const char* kCrew = "crew";

/// Runs the case in a file (see memory_file.h) and appends the result. Arguments: the file's descriptor and the
/// backend; with jails also the program of a jail, the least tier, and the base name of the learner's file. The status
/// is 0 if a result was written; the supervisor believes the end mark only.
SHARDLINGS_API int submission_main(int argc, char** argv, HarnessFunction harness);

}  // namespace shardlings::submission

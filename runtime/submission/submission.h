/// \file
/// The submission process: one case in, one result out. Linked as main.o + harness.o + puzzle.o + libshardlings.
#pragma once

#include "submission/harness.h"

namespace shardlings::submission {

using HarnessFunction = void (*)(Harness&);

/// `submission <file descriptor> <backend> [<jail program> <least tier> <name of the learner's file>]`: runs the case in the file (see memory_file.h) and appends
/// the result. The status is 0 if a result was written; the supervisor believes the end mark only.
SHARDLINGS_API int submission_main(int argc, char** argv, HarnessFunction harness);

}  // namespace shardlings::submission

/// \file
/// What a puzzle's object file must not contain: variables that outlive a call, and doors around the runtime.
#pragma once

#include <string>

#include "grading/build/object_file.h"

namespace shardlings::grading::build {

/// Empty if the object is in order, else a sentence that says what is wrong and why. `file` is the source's name.
///
/// Refused are writable static data (they are shared by all ranks, which run as threads of one process: the cheapest
/// way around communication, and wrong on real machines), code that runs before main(), symbols of threads, processes,
/// files, sockets, clocks and dynamic loading, and definitions that replace the runtime's or the library's.
std::string check_object(const ObjectFile& object, const std::string& file);

}  // namespace shardlings::grading::build

/// \file
/// The list of system calls that a jail may make, for the kernel to hold it to (seccomp).
#pragma once

namespace shardlings::boundary {

/// There is a list for this processor.
bool has_call_filter();

/// What is left over between fork and exec, and to the program that runs then: to start `program`, to speak to `notes`
/// until then, to set itself up as a statically linked program, and after that memory, waiting, ending itself, and
/// writing to standard output and error. It reads nothing but its memory, and names no file. Anything else ends it with
/// SIGSYS. Two descriptors, both closed when the program starts. False, with errno, if it cannot be.
bool allow_only_calls_of_a_jail(int program, int notes);

}  // namespace shardlings::boundary

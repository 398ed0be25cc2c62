/// \file
/// Machines that are let down: system calls that fail from some moment on, in this process and all that it starts.
#pragma once

#include <string>

namespace shardlings::support {

/// \name In a child process, before it does anything else
/// Each returns whether the system let itself be set so; where it does not, a test is skipped.
/// @{
/// No new thread: EAGAIN, as where a limit of processes is reached.
bool refuse_threads();
/// No new process.
bool refuse_processes();
/// At most so many descriptors.
bool allow_files(int most);
/// At most so much address space, in MiB.
bool allow_address_space(int mebibytes);
/// A file system of its own over the folder, on which not one block is free. Needs the rights of root.
bool fill_up(const std::string& folder);
/// @}

}  // namespace shardlings::support

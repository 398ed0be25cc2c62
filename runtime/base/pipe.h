/// \file
/// Writing to a program that may have stopped reading.
#pragma once

#include <string_view>

namespace shardlings {

/// Writes all of it, or as much as is read: a reader that has gone is no error, and no signal either. What the process
/// does on SIGPIPE stays as it is, so that several threads may write at the same time.
void write_to_pipe(int descriptor, std::string_view text);

}  // namespace shardlings

/// \file
/// What ends a command early.
#pragma once

#include <stdexcept>

namespace shardlings::cli {

/// Exit statuses of every command.
inline constexpr int kPassed = 0;    ///< it passed, or there was nothing to judge
inline constexpr int kFailed = 1;    ///< it was judged and does not pass
inline constexpr int kWrongUse = 2;  ///< the command could not do what was asked for
/// The machine or the tool is at fault: nothing was judged, or the answer could not be delivered.
inline constexpr int kNotJudged = 3;

/// The command was used wrongly. The message says what to do instead; the exit status is kWrongUse.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// This process is one of several that mpirun has started with the same command, and another one does its work: it ends
/// with kPassed and says nothing.
struct AnotherDoesIt {};

}  // namespace shardlings::cli

/// \file
/// Why a run failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/memory_limits.h"
#include "base/units.h"
#include "base/words.h"

namespace shardlings::front {

enum class FailureKind : std::uint8_t {
  mismatch,   ///< ranks of a group make different calls where they must make the same
  deadlock,   ///< ranks wait for one another
  desertion,  ///< a rank has returned while others wait for it
  race,       ///< data of an operation in flight were touched
  leak,       ///< an operation was started and never waited for
  out_of_memory,
  invalid_argument,
  not_implemented,  ///< the hole is unfilled
  exception,        ///< anything else that the function threw, or that failed below it
  hang,             ///< the back says that an operation which all ranks have joined does not come to its end
  endless_loop,     ///< a rank has made more calls than any run that ends
  peer_failed       ///< nobody has caught that a rank has died, as the case wanted it
};
/// As verdicts and files have them.
inline constexpr Words<FailureKind, 12> kFailureWords{{"mismatch", "deadlock", "desertion", "race", "leak",
                                                       "out_of_memory", "invalid_argument", "not_implemented",
                                                       "exception", "hang", "endless_loop", "peer_failed"}};
inline const char* name_of(FailureKind kind) {
  return kFailureWords.of(kind);
}

/// The primary error of a run, the same on every run of the same program (but for a hang).
struct Failure {
  FailureKind kind = FailureKind::exception;
  int rank = -1;
  std::string message;  ///< all lines, ready to print
  std::string file;
  int line = 0;
  Nanos time;
  /// std::bad_alloc was thrown where these limits are in force: it is the computer's memory, and not a device's.
  std::optional<MemoryLimits> no_memory{};
};

}  // namespace shardlings::front

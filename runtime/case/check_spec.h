/// \file
/// A check of a puzzle, as puzzle.toml declares it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/words.h"

namespace shardlings::cases {

/// What a check is about.
enum class CheckKind : std::uint8_t { output, memory, communication, time, rules };
inline constexpr Words<CheckKind, 5> kCheckKindWords{{"output", "memory", "communication", "time", "rules"}};
inline const char* name_of(CheckKind kind) {
  return kCheckKindWords.of(kind);
}

/// Where what a check is about is answered: in the measured run, or by a function that the harness asks before it, or
/// behind it.
enum class Asked : std::uint8_t { run, before, behind };
inline constexpr Words<Asked, 3> kAskedWords{{"run", "before", "behind"}};

/// A check of a puzzle as its manifest declares it.
struct CheckSpec {
  std::string id;  ///< "output"
  CheckKind kind = CheckKind::output;
  std::string title;  ///< what it asks for, one line
  int points = 0;
  std::vector<std::string> after;  ///< ids of checks without which this one cannot be judged
  bool bonus = false;              ///< a puzzle passes without it, and its points come on top
  /// A run that does not come to its end fails the check of the part in which it has ended. Of one that is asked before
  /// the run the harness starts that only if the answer is right, so a run that has begun has passed it.
  Asked asked = Asked::run;
};

}  // namespace shardlings::cases

/// \file
/// Call sites: every public call records the learner's source line.
#pragma once

namespace shardlings {

/// A place in the source. As a default argument, `Location::current()` is the caller's line.
///
/// std::source_location would do the same, but neither clang 14 nor a light header can use it.
struct Location {
  const char* file = "";  ///< as the compiler was given it
  int line = 0;           ///< from 1; 0: unknown

  /// Where the call stands that this is a default argument of.
  static constexpr Location current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

}  // namespace shardlings

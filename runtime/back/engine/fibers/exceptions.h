/// \file
/// What the language keeps for each thread about exceptions under way. Fibers of one thread need it apart: a rank that
/// sleeps in a catch block would else rethrow another rank's exception.
#pragma once

#include <cxxabi.h>

#include <cstddef>
#include <cstring>

namespace shardlings::back {

/// __cxa_eh_globals of the Itanium C++ ABI: the caught exceptions, and how many are uncaught.
struct ExceptionState {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

/// Sets the state of the thread whose __cxa_get_globals() these are, and returns the one that it had.
inline ExceptionState exchange_exceptions(void* globals, const ExceptionState& next) {
  ExceptionState before;
  std::memcpy(&before, globals, sizeof before);
  std::memcpy(globals, &next, sizeof next);
  return before;
}

}  // namespace shardlings::back

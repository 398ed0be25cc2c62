/// \file
/// An exception, as it crosses: caught on one side, thrown on the other.
#pragma once

#include <deque>
#include <string>

#include "boundary/archive.h"

namespace shardlings::boundary {

/// What a learner's function may throw.
enum class ThrownKind : std::uint8_t {
  invalid_argument,
  out_of_memory,
  misuse,
  aborted,
  not_implemented,
  error,           ///< an Error of no kind of its own
  no_host_memory,  ///< std::bad_alloc
  foreign,         ///< another std::exception
  unknown          ///< something that is no std::exception
};

struct Thrown {
  ThrownKind kind = ThrownKind::unknown;
  Misuse misuse = Misuse::mismatch;
  std::string text;
  std::string file;
  int line = 0;
};

/// The exception that is being handled.
SHARDLINGS_API Thrown thrown_now();
/// Throws it again. `files`: what a Location points into.
[[noreturn]] SHARDLINGS_API void throw_again(const Thrown& thrown, std::deque<std::string>& files);

SHARDLINGS_API void send(Sender& sender, const Thrown& thrown);
/// Throws BadPack.
SHARDLINGS_API Thrown receive_thrown(Receiver& receiver);

}  // namespace shardlings::boundary

/// \file
/// An exception, as it crosses: caught on one side, thrown on the other.
#pragma once

#include <deque>
#include <new>
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
  peer_failed,
  foreign  ///< anything else
};

/// std::bad_alloc of the jail: it is the jail's limit of memory that may have been met, and not the broker's.
class SHARDLINGS_API NoMemoryInJail : public std::bad_alloc {
 public:
  ~NoMemoryInJail() override;
};

struct Thrown {
  ThrownKind kind = ThrownKind::foreign;
  Misuse misuse = Misuse::mismatch;
  std::string text;  ///< what it says; of a foreign one, what words_of_thrown() says
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

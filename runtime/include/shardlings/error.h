/// \file
/// The exceptions that a learner's code can meet. All of them carry a finished sentence.
#pragma once

#include <exception>

#include "shardlings/export.h"
#include "shardlings/location.h"

namespace shardlings {

/// Base of all errors thrown by the runtime. `what()` says what happened, with the call's source line.
class SHARDLINGS_API Error : public std::exception {
 public:
  /// `message` is copied.
  Error(const char* message, Location at);
  /// Exceptions are copied when they are thrown; throws nothing but std::bad_alloc.
  Error(const Error& other);
  Error& operator=(const Error&) = delete;
  ~Error() override;

  /// The finished sentence, or several lines.
  const char* what() const noexcept override { return message_; }
  /// The call that failed.
  Location where() const noexcept { return at_; }

 private:
  char* message_;
  Location at_;
};

/// A call with arguments that make no sense: shapes that do not fit, a rank that does not exist, a freed tensor.
class SHARDLINGS_API InvalidArgument : public Error {
 public:
  using Error::Error;
  ~InvalidArgument() override;
};

/// The capacity of the device, or of the rank's part of the host's memory, is exceeded. The message lists what is
/// alive, by kind and by source line.
class SHARDLINGS_API OutOfMemory : public Error {
 public:
  using Error::Error;
  ~OutOfMemory() override;
};

/// What a misuse of collectives or of asynchronous work is called (docs/reference/misuse.md shows each).
enum class Misuse {
  mismatch,   ///< the ranks of a group make calls that do not belong together
  deadlock,   ///< ranks wait for one another in a circle
  desertion,  ///< ranks wait for one that has returned
  race,       ///< a tensor is used while an operation that is in flight needs it
  leak        ///< something that was started is never waited for
};

/// Collectives or asynchronous work used wrongly; the message names ranks, calls and source lines.
class SHARDLINGS_API MisuseError : public Error {
 public:
  /// `message` is copied.
  MisuseError(Misuse misuse, const char* message, Location at) : Error(message, at), misuse_(misuse) {}
  ~MisuseError() override;
  /// Which kind it is.
  Misuse misuse() const noexcept { return misuse_; }

 private:
  Misuse misuse_;
};

/// The run has already failed on another rank: whatever this rank would do next is pointless.
class SHARDLINGS_API Aborted : public Error {
 public:
  using Error::Error;
  ~Aborted() override;
};

/// A rank has died, so what this rank waits for will never come. Only runs whose case says that ranks die have it.
///
/// Every rank that lives is told, each once for each failure: by its call that waits, when no rank can go on; or, if it
/// does not wait, by its next call on a group. At once by every later call on a group that was made before, the world
/// included. Whoever is told goes on by Rank::survivors().
/// Work that was under way: what all its members had called is over, holds right data and may be waited for; all else
/// is revoked: its tensors hold what was there or a part of the result, are in flight no more, and wait() throws
/// PeerFailed. All of it may be dropped without wait(). Writes to the store go on by themselves.
class SHARDLINGS_API PeerFailed : public Error {
 public:
  using Error::Error;
  ~PeerFailed() override;
};

/// The hole of a puzzle that nobody has filled yet.
class SHARDLINGS_API NotImplemented : public Error {
 public:
  /// The message names the line of the hole.
  explicit NotImplemented(Location at = Location::current());
  ~NotImplemented() override;
};

}  // namespace shardlings

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
  Error(const char* message, Location at);
  Error(const Error& other);
  Error& operator=(const Error&) = delete;
  ~Error() override;

  const char* what() const noexcept override { return message_; }
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

/// What a misuse of collectives or of asynchronous work is called.
enum class Misuse { mismatch, deadlock, desertion, race, leak };

/// Collectives or asynchronous work used wrongly; the message names ranks, calls and source lines.
class SHARDLINGS_API MisuseError : public Error {
 public:
  MisuseError(Misuse misuse, const char* message, Location at) : Error(message, at), misuse_(misuse) {}
  ~MisuseError() override;
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

/// The hole of a puzzle that nobody has filled yet.
class SHARDLINGS_API NotImplemented : public Error {
 public:
  explicit NotImplemented(Location at = Location::current());
  ~NotImplemented() override;
};

}  // namespace shardlings

/// \file
/// What the library with MPI in it offers.
#pragma once

#include <memory>
#include <string>

#include "back/transport/transport.h"

namespace shardlings::back::mpi {

inline constexpr const char* kLibrary = "libshardlings_mpi.so";

class Api {
 public:
  virtual ~Api() = default;
  /// "Open MPI 4.1.4". May be asked before start().
  virtual std::string version() = 0;
  /// Starts MPI, once. Throws std::runtime_error.
  virtual std::unique_ptr<Transport> start() = 0;
  /// Ends it, after the transport.
  virtual void finish() = 0;
};

using EntryFunction = Api* (*)();
/// The number changes with what Api or Transport have: a library that was left over from another version has no such
/// entry, and is not called.
inline constexpr const char* kEntry = "shardlings_mpi_entry_2";

}  // namespace shardlings::back::mpi

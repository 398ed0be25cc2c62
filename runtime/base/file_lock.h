/// \file
/// One process at a time.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace shardlings {

/// Held by one process at a time, as long as it lives; waits until it is free.
class FileLock {
 public:
  /// Makes the file if there is none. Throws std::runtime_error if it cannot be made.
  explicit FileLock(const std::string& path);
  /// Whether somebody else had it when we came.
  bool waited() const { return waited_; }

 private:
  Descriptor file_;
  bool waited_ = false;
};

}  // namespace shardlings

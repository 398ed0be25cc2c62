/// \file
/// A file descriptor with an owner, and writing to one.
#pragma once

#include <unistd.h>

#include <string_view>
#include <utility>

namespace shardlings {

/// Closes its descriptor at the end.
class Descriptor {
 public:
  /// Of none, if it is negative.
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return number_; }
  /// The descriptor, which the caller closes from now on.
  int release() { return std::exchange(number_, -1); }
  /// Closes what it had, and owns this one instead.
  void reset(int number = -1) {
    if (number_ >= 0) ::close(number_);
    number_ = number;
  }

 private:
  int number_;
};

/// Writes all of it, whatever signals come meanwhile. False if that cannot be; errno says why.
bool write_all(int descriptor, std::string_view content);

}  // namespace shardlings

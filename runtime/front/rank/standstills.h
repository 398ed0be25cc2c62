/// \file
/// When a program stood still, as far as something that is still under way may have gone on meanwhile.
#pragma once

#include <vector>

#include "base/units.h"

namespace shardlings::front {

class Standstills {
 public:
  /// From here on they are of interest: something is under way.
  void remember() { remembers_ = true; }
  /// From when until when; never before what was noted last.
  void note(Nanos from, Nanos until);
  /// How long of the time from `from` until `until` the program stood still.
  Nanos within(Nanos from, Nanos until) const;
  /// Nobody asks for what was before.
  void forget_before(Nanos time);
  /// Nothing is under way any more.
  void forget_all() {
    all_.clear();
    remembers_ = false;
  }
  std::size_t size() const { return all_.size(); }

 private:
  struct Span {
    Nanos from, until;
  };
  std::vector<Span> all_;  ///< apart from one another, in the order of time
  bool remembers_ = false;
};

}  // namespace shardlings::front

/// \file
/// Collectives as a call of the model meets them that is recorded and repeated: it knows of groups no more than their
/// numbers.
#pragma once

#include <cstdint>

#include "api/call.h"
#include "back/fabric/fabric.h"

namespace shardlings::front {

/// Is told of collectives that wait, before and after.
class CollectiveWatcher {
 public:
  virtual void before(const back::Signature& signature) = 0;
  virtual void after() = 0;

 protected:
  ~CollectiveWatcher() = default;
};

class Collectives {
 public:
  /// A collective that waits, of no data: where nothing is computed, all of it is in the signature. It stands where
  /// `call` does, which it is a part of.
  virtual void repeat(const detail::Call& call, std::uint32_t group, const back::Signature& signature) = 0;
  /// nullptr: nobody.
  virtual void tell(CollectiveWatcher* watcher) = 0;

 protected:
  ~Collectives() = default;
};

}  // namespace shardlings::front

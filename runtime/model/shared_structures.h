/// \file
/// The structures of one model that many ranks share: each is made once.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "base/mutex.h"
#include "model/structure.h"

namespace shardlings::model {

/// For any number of threads. With a copy for each of thousands of ranks, structures would take more memory than all
/// else that is known of a rank.
class SharedStructures {
 public:
  explicit SharedStructures(ModelSpec spec) : spec_(std::move(spec)) {}

  /// As make_structure, and as make_part. Throw what those do.
  std::shared_ptr<const ModelStructure> whole() { return part(1, 0); }
  std::shared_ptr<const ModelStructure> part(int parts, int part);

 private:
  ModelSpec spec_;
  Mutex mutex_;
  std::map<std::pair<int, int>, std::shared_ptr<const ModelStructure>> made_ GUARDED_BY(mutex_);
};

}  // namespace shardlings::model

#include "model/shared_structures.h"

namespace shardlings::model {

std::shared_ptr<const ModelStructure> SharedStructures::part(int parts, int part) {
  const MutexLock guard(mutex_);
  std::shared_ptr<const ModelStructure>& made = made_[{parts, part}];
  if (!made) {
    made = std::make_shared<const ModelStructure>(parts == 1 ? make_structure(spec_) : make_part(spec_, parts, part));
  }
  return made;
}

}  // namespace shardlings::model

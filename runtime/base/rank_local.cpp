#include "base/rank_local.h"

namespace shardlings {

void*& rank_local() {
  static thread_local void* local = nullptr;
  return local;
}

}  // namespace shardlings

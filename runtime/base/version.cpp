#include "base/version.h"

namespace shardlings {

const char* version() {
  return SHARDLINGS_VERSION;
}

}  // namespace shardlings

#include "base/units.h"

auto mixed(shardlings::Bytes bytes, shardlings::Nanos time) {
  return bytes + time;
}

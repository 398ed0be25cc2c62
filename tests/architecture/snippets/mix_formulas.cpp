#include "grading/judge/formula.h"

using namespace shardlings;

auto mixed(grading::judge::Formula<Bytes> bytes, grading::judge::Formula<Nanos> time) {
  return bytes + time;
}

#include "front/trace/counters.h"

namespace shardlings::front {

Bytes Counters::bytes_sent() const {
  Bytes sum;
  for (const auto& [key, traffic] : this->traffic) sum += traffic.sent;
  return sum;
}

Bytes Counters::bytes_sent(Collective kind) const {
  Bytes sum;
  for (const auto& [key, traffic] : this->traffic) {
    if (key.kind == kind) sum += traffic.sent;
  }
  return sum;
}

std::int64_t Counters::calls(Collective kind) const {
  std::int64_t sum = 0;
  for (const auto& [key, traffic] : this->traffic) {
    if (key.kind == kind) sum += traffic.calls;
  }
  return sum;
}

}  // namespace shardlings::front

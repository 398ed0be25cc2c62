#include "front/rank/standstills.h"

#include <algorithm>

namespace shardlings::front {

void Standstills::note(Nanos from, Nanos until) {
  if (!remembers_ || until <= from) return;
  if (!all_.empty() && all_.back().until == from) {
    all_.back().until = until;
  } else {
    all_.push_back({from, until});
  }
}

Nanos Standstills::within(Nanos from, Nanos until) const {
  const auto ends_before = [](const Span& span, Nanos time) { return span.until <= time; };
  Nanos sum;
  for (auto span = std::lower_bound(all_.begin(), all_.end(), from, ends_before); span != all_.end(); ++span) {
    if (span->from >= until) break;
    sum += std::min(span->until, until) - std::max(span->from, from);
  }
  return sum;
}

void Standstills::forget_before(Nanos time) {
  const auto is_needed = [&](const Span& span) { return span.until > time; };
  all_.erase(all_.begin(), std::find_if(all_.begin(), all_.end(), is_needed));
}

}  // namespace shardlings::front

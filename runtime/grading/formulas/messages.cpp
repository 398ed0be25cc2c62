#include "grading/formulas/messages.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace shardlings::grading::formulas {

Nanos transfer_time(const cases::Case& kase, Count elements) {
  const auto bytes = static_cast<double>(elements * judge::kBytesOfF32);
  const front::LinkSpeed& link = kase.cluster.links[static_cast<std::size_t>(front::Link::intra_node)];
  return Nanos(std::llround(bytes / link.bytes_per_second * 1e9));
}

bool receives_from_any(const judge::CheckContext& check, int rank) {
  const std::vector<front::Event> events = check.events(rank, front::EventKind::recv);
  const std::vector<std::string>& names = check.trace(rank).names;
  return std::any_of(events.begin(), events.end(),
                     [&](const front::Event& event) { return names.at(event.name) == "recv_any"; });
}

}  // namespace shardlings::grading::formulas

#include "report/view/traffic.h"

#include <algorithm>
#include <tuple>

namespace shardlings::report {
namespace {

using front::Event;
using front::EventKind;
using front::RankTrace;

std::size_t part_for(const RankTrace& trace, const Event& event, std::vector<TrafficPart>& parts) {
  const std::string operation = event.name < trace.names.size() ? trace.names[event.name] : "";
  const auto index = static_cast<std::size_t>(event.group);
  const std::string group = event.group >= 0 && index < trace.groups.size() ? trace.groups[index] : "";
  const std::vector<int>& members = members_of(trace, index);  // none of -1, which is beyond all
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const TrafficPart& part) {
    return part.operation == operation && part.lane == event.lane && part.group == group && part.members == members;
  });
  if (found != parts.end()) return static_cast<std::size_t>(found - parts.begin());
  parts.push_back({operation, group, members, event.lane, {}, {}});
  return parts.size() - 1;
}

void add(int from, int to, Bytes bytes, TrafficPart& part) {
  SentBytes& cell = part.cells[{from, to}];
  cell.bytes += bytes;
  ++cell.calls;
}

void spread(int from, Bytes bytes, TrafficPart& part) {
  std::vector<int> others = part.members;
  std::erase(others, from);
  if (others.empty()) return;
  const auto receivers = static_cast<std::int64_t>(others.size());
  for (std::int64_t i = 0; i < receivers; ++i) {
    const std::int64_t share = bytes.value() / receivers + (i < bytes.value() % receivers ? 1 : 0);
    add(from, others[static_cast<std::size_t>(i)], Bytes(share), part);
  }
}

}  // namespace

std::vector<TrafficPart> traffic_of(const std::vector<RankTrace>& traces) {
  std::vector<TrafficPart> parts;
  for (std::size_t rank = 0; rank < traces.size(); ++rank) {
    std::map<std::tuple<std::uint16_t, std::int32_t, front::Lane>, std::size_t> known;  // by what is equal in a trace
    for (const Event& event : traces[rank].events) {
      if (event.kind != EventKind::collective && event.kind != EventKind::send) continue;
      const auto [entry, is_new] = known.try_emplace({event.name, event.group, event.lane}, 0);
      if (is_new) entry->second = part_for(traces[rank], event, parts);
      TrafficPart& part = parts[entry->second];
      part.total += event.bytes;
      if (event.bytes <= Bytes(0)) continue;
      const int from = static_cast<int>(rank);
      if (event.peer >= 0) {
        add(from, event.peer, event.bytes, part);
      } else {
        spread(from, event.bytes, part);
      }
    }
  }
  return parts;
}

}  // namespace shardlings::report

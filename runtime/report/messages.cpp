#include "report/messages.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace shardlings::report {
namespace {

using front::Event;
using front::EventKind;

using Channel = std::tuple<std::string, int, int>;  // group, from, to
struct Sides {
  std::vector<const Event*> sends, recvs;
};

void sort_by_call(std::vector<const Event*>& events) {
  std::stable_sort(events.begin(), events.end(), [](const Event* a, const Event* b) { return a->order < b->order; });
}

}  // namespace

std::vector<Message> messages_of(const std::vector<front::RankTrace>& traces) {
  std::map<Channel, Sides> channels;
  for (std::size_t r = 0; r < traces.size(); ++r) {
    const auto rank = static_cast<int>(r);
    for (const Event& event : traces[r].events) {
      if (event.kind != EventKind::send && event.kind != EventKind::recv) continue;
      const auto& groups = traces[r].groups;
      const auto group = static_cast<std::size_t>(event.group);
      const std::string name = event.group >= 0 && group < groups.size() ? groups[group] : "";
      if (event.kind == EventKind::send) {
        channels[{name, rank, event.peer}].sends.push_back(&event);
      } else {
        channels[{name, event.peer, rank}].recvs.push_back(&event);
      }
    }
  }
  std::vector<Message> messages;
  for (auto& [channel, sides] : channels) {
    sort_by_call(sides.sends);
    sort_by_call(sides.recvs);
    const std::size_t pairs = std::min(sides.sends.size(), sides.recvs.size());
    for (std::size_t i = 0; i < pairs; ++i) {
      messages.push_back({std::get<1>(channel), std::get<2>(channel), sides.sends[i], sides.recvs[i]});
    }
  }
  return messages;
}

}  // namespace shardlings::report

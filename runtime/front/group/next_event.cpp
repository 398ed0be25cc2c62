#include "front/group/next_event.h"

#include <algorithm>

namespace shardlings::front {
namespace {

std::optional<Nanos> earliest_look(const std::vector<LiveStatus>& ranks) {
  std::optional<Nanos> earliest;
  for (const LiveStatus& status : ranks) {
    if (status.blocked_in == nullptr || status.blocked_in->asks != Asks::look) continue;
    const Nanos time = status.blocked_in->records.front().posted;
    earliest = std::min(earliest.value_or(time), time);
  }
  return earliest;
}

}  // namespace

NextEvent next_event(const std::vector<LiveStatus>& ranks, const Deaths& deaths, const CostModel& costs) {
  NextEvent next;
  const auto is_first = [&](Nanos time) { return next.what == NextEvent::What::nothing || time < next.time; };
  if (const auto look = earliest_look(ranks)) next = {NextEvent::What::look, *look, {}, {}};
  if (const auto receive = earliest_receive(ranks, costs); receive && is_first(receive->arrival)) {
    next = {NextEvent::What::receive, receive->arrival, *receive, {}};
  }
  if (const auto death = deaths.earliest_new(); death && is_first(death->known) && deaths.doom_anybody(ranks)) {
    next = {NextEvent::What::death, death->known, {}, *death};
  }
  if (next.what == NextEvent::What::nothing && all_agree(ranks)) next.what = NextEvent::What::agreement;
  return next;
}

}  // namespace shardlings::front

#include "front/group/any_sender.h"

#include <optional>

#include "base/dtype.h"

namespace shardlings::front {
namespace {

/// A message that a receive could take.
struct Waiting {
  Nanos arrival;
  int from = 0;  ///< in the group
};

// The lowest sender of those whose messages could arrive at the same time.
std::optional<Waiting> earliest(const Inbox& inbox, const CostModel& costs) {
  std::optional<Waiting> first;
  for (std::size_t from = 0; from < inbox.size(); ++from) {
    if (inbox[from] == nullptr) continue;
    const Meeting* next = (*inbox[from])->next.load(std::memory_order_acquire);
    if (next == nullptr || next->posted[0] == 0) continue;
    const Nanos arrival = arrival_of(*next, costs);
    if (!first || arrival < first->arrival) first = {arrival, static_cast<int>(from)};
  }
  return first;
}

}  // namespace

Nanos transfer_of(const back::Signature& signature, Link link, const CostModel& costs) {
  const Bytes bytes = costs.of_message(bytes_of(signature.count, signature.dtype), signature.dtype);
  return costs.latency(link) + costs.occupancy(bytes, link);
}

Nanos arrival_of(const Meeting& message, const CostModel& costs) {
  const CallRecord& send = message.records[0];
  const Link link = costs.link_between(message.rank_of(0), message.rank_of(1));
  return send.lane_free + transfer_of(send.signature, link, costs);
}

std::optional<PossibleReceive> earliest_receive(const std::vector<LiveStatus>& ranks, const CostModel& costs) {
  std::optional<PossibleReceive> best;
  for (const LiveStatus& status : ranks) {
    if (status.blocked_in == nullptr || status.blocked_in->inbox == nullptr) continue;
    const std::optional<Waiting> found = earliest(*status.blocked_in->inbox, costs);
    if (!found || (best && found->arrival >= best->arrival)) continue;
    best = {status.blocked_in, found->arrival, found->from};
  }
  return best;
}

}  // namespace shardlings::front

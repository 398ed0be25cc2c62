/// \file
/// Whose message a receive from any rank takes.
///
/// It is decided when nobody can go on otherwise, and for one receive at a time, that of the message which could arrive
/// first. What any rank does from then on comes of this grant or of a later one, so it happens at that arrival or after
/// it, and no message that is sent then could have been there earlier. So the choice is right in virtual time, and
/// since programs are Kahn networks from one grant to the next, the state in which it is made is the same in every run.
#pragma once

#include <optional>
#include <vector>

#include "front/clock/cost.h"
#include "front/group/live_situation.h"

namespace shardlings::front {

/// What a message takes from its start to its arrival, latency included.
Nanos transfer_of(const back::Signature& signature, Link link, const CostModel& costs);
/// When a message that its sender has posted could arrive, if its receiver had waited for it all the time.
Nanos arrival_of(const Meeting& message, const CostModel& costs);

/// A receive from any rank, and the message that it could take.
struct PossibleReceive {
  Meeting* receive = nullptr;
  Nanos arrival;
  int from = 0;  ///< in the group
};
/// Of all receives from any rank in which somebody is blocked the one whose earliest message could arrive first, then
/// of the lowest rank; nothing if there is a message for none. To be called when nobody can go on.
std::optional<PossibleReceive> earliest_receive(const std::vector<LiveStatus>& ranks, const CostModel& costs);

}  // namespace shardlings::front

/// \file
/// What comes next in virtual time when no rank can go on by itself.
///
/// It is the earliest of all that can be granted, so whatever comes of it is not earlier than anything that was granted
/// before (any_sender.h says the same of messages). That nobody can go on does not depend on who is faster, and so
/// neither does what comes next.
#pragma once

#include <optional>
#include <vector>

#include "front/clock/cost.h"
#include "front/group/any_sender.h"
#include "front/group/deaths.h"
#include "front/group/live_situation.h"

namespace shardlings::front {

struct NextEvent {
  enum class What : std::uint8_t {
    nothing,
    look,       ///< all that want to look at the store at `time` may
    receive,    ///< a receive from any rank takes a message
    death,      ///< all that wait for others are told that a rank has died
    agreement,  ///< all that live agree on who they are
  };
  What what = What::nothing;
  Nanos time;               ///< of a look, a receive or a death
  PossibleReceive receive;  ///< of a receive
  PeerDeath death;          ///< of a death
};

/// At one time looks come first, then receives, then deaths. To be called when nobody can go on.
NextEvent next_event(const std::vector<LiveStatus>& ranks, const Deaths& deaths, const CostModel& costs);

}  // namespace shardlings::front

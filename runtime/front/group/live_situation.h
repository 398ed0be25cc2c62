/// \file
/// What the misuse detector is told of live meetings.
#pragma once

#include <vector>

#include "front/group/meeting.h"
#include "front/misuse/situation.h"

namespace shardlings::front {

/// What a rank is doing, as the control plane knows it.
struct LiveStatus {
  RankStatus told;                ///< but for the operation that it is blocked in
  Meeting* blocked_in = nullptr;  ///< the meeting, instead
};

/// An operation that some members may not have posted yet, without what it is queued behind.
ToldOperation told(const Meeting& meeting);
/// The whole world. To be called when nobody can go on: then what ranks have written holds still, and can be seen.
Situation told(const std::vector<LiveStatus>& ranks, const std::vector<const Meeting*>& mismatches);

}  // namespace shardlings::front

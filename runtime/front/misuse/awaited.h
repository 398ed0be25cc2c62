/// \file
/// For whom ranks wait that cannot go on.
#pragma once

#include <string>
#include <vector>

#include "front/misuse/situation.h"

namespace shardlings::front {

using Statuses = std::vector<RankStatus>;

bool has_finished(const Statuses& ranks, int rank);
/// Ranks that this operation misses.
std::vector<int> missing_ranks(const ToldOperation& operation);
/// Those of them that it waits for. A receive from any rank needs one of many: those who could still send, which are
/// neither gone nor in such a receive themselves; else those who are gone; else all.
std::vector<int> awaited(const Statuses& ranks, const ToldOperation& operation);
/// "desertion: rank 1 has returned while others wait for it.", and where it was last. Of a receive from any rank that is
/// said of all who are gone.
std::string returned_text(const Statuses& ranks, int absent, const ToldOperation& operation);

}  // namespace shardlings::front
